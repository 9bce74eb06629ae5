/**
 * Packed columns: what `paceline.pages.packing` writes, read again.
 *
 *     four bytes     length of the head, little endian
 *     head           JSON: whatever the page is told, and under "columns" what follows
 *     data           each column at a multiple of eight bytes
 *
 * Columns are typed arrays over the very bytes; texts are a JSON list. Knows bytes. What a column means is
 * the sheet's business.
 */

const ARRAYS = {
  i8: Int8Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
};

/** The head and the columns of a pack: `{head, columns: [{...said, values, rows}]}`. */
export function unpacked(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const text = new TextDecoder();
  const head = JSON.parse(text.decode(bytes.subarray(4, 4 + length)));
  const begin = bytes.byteOffset + aligned(4 + length);
  const view = (kind, at, n) => new ARRAYS[kind](bytes.buffer, begin + at, n);
  const columns = head.columns.map((column) => {
    if (column.kind === "text") {
      const from = begin - bytes.byteOffset + column.at;
      return {
        ...column,
        values: JSON.parse(text.decode(bytes.subarray(from, from + column.bytes))),
        rows: null,
      };
    }
    const rows = column.rows_at === undefined ? null : view("u32", column.rows_at, column.n);
    return { ...column, values: view(column.kind, column.at, column.n), rows };
  });
  return { head, columns };
}

function aligned(at) {
  return Math.ceil(at / 8) * 8;
}

/** Base64 text as bytes. */
export function bytesOf(base64) {
  if (typeof Uint8Array.fromBase64 === "function") return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** What was deflated, as it was before. */
export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
