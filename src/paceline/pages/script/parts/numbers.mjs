/**
 * Numbers as people read them, by the rules of the terminal's report (`paceline.report.text`): a rate is never
 * rounded up to 100 % or down to 0 %, and what is unknown is said to be.
 *
 * Knows numbers. Knows nothing of what they count.
 */

const UNKNOWN = "unknown";

/** A share in percent. */
export function percent(rate) {
  if (rate === null || rate === undefined) return UNKNOWN;
  if (rate > 0 && rate < 0.001) return "<0.1%";
  if (rate > 0.999 && rate < 1) return ">99.9%";
  return `${(rate * 100).toFixed(1)}%`;
}

/** A duration in the unit that suits it. */
export function seconds(duration) {
  if (duration === null || duration === undefined || Number.isNaN(duration)) return UNKNOWN;
  if (duration < 0.9995) return duration ? `${threeDigits(duration * 1000)} ms` : "0 s";
  if (duration < 59.95) return `${duration.toFixed(duration < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(duration);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** The same for the axis of a plot: round numbers without the digits that a measured one has. */
export function roundSeconds(duration) {
  return seconds(duration)
    .replace(/\.0+ s$/, " s")
    .replace(/(\.\d*?)0+ s$/, "$1 s")
    .replace(/ min 00 s$/, " min")
    .replace(/ h 00 min$/, " h");
}

/** A sum of money; a small one is never rounded down to nothing. */
export function dollars(sum) {
  if (sum === null || sum === undefined || Number.isNaN(sum)) return UNKNOWN;
  const size = Math.abs(sum);
  if (size > 0 && size < 1e-4) return `$${sum.toFixed(1 - Math.floor(Math.log10(size)))}`;
  if (size > 0 && size < 0.995) return `$${Number(sum.toPrecision(2))}`;
  return `$${grouped(size < 1000 ? sum.toFixed(2) : sum.toFixed(0))}`;
}

/** A whole number with its thousands apart. */
export function count(number) {
  return number === null || number === undefined ? UNKNOWN : grouped(String(Math.round(number)));
}

/** `1 case`, `2 cases`. */
export function counted(number, thing, things = `${thing}s`) {
  return `${count(number)} ${number === 1 ? thing : things}`;
}

/** A number with as many digits as mean something. */
export function plain(number) {
  if (number === null || number === undefined || Number.isNaN(number)) return UNKNOWN;
  return Number.isInteger(number) ? grouped(String(number)) : String(Number(number.toPrecision(4)));
}

/** A count in a few characters: `9,950`, `12.3k`, `4.56M`. */
export function short(number) {
  for (const [unit, size] of [
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ]) {
    if (Math.abs(number) >= 0.9995 * size && Math.abs(number) >= 9999.5) {
      return (number / size).toPrecision(3).replace(/\.$/, "") + unit;
    }
  }
  return count(number);
}

/** A moment as this reader's clock and calendar write it. */
export function moment(epoch) {
  if (epoch === null || epoch === undefined) return UNKNOWN;
  return new Date(epoch * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** How long ago a moment was, roughly. */
export function ago(epoch, now) {
  const passed = Math.max(0, now - epoch);
  if (passed < 90) return `${Math.round(passed)} s ago`;
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  if (passed < 129600) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} days ago`;
}

function threeDigits(number) {
  return String(Number(number.toPrecision(3)));
}

function grouped(digits) {
  const [whole, rest] = digits.split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? apart : `${apart}.${rest}`;
}
