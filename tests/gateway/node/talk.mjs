// An agent in another language: everything it knows of its provider is in its environment.
import OpenAI from "openai";

const client = new OpenAI({ maxRetries: 0 });
const messages = [{ role: "user", content: "What is 17 * 23?" }];
const tools = [{ type: "function", function: { name: "ls", parameters: { type: "object", properties: {} } } }];

const chat = await client.chat.completions.create({ model: "m", messages });
const response = await client.responses.create({ model: "m", input: "What is 17 * 23?" });
let streamed = "";
for await (const chunk of await client.chat.completions.create({ model: "m", messages, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? "";
}
const called = await client.chat.completions.create({
  model: "m",
  messages: [{ role: "user", content: "List it" }],
  tools,
});
let refused = 0;
try {
  await client.chat.completions.create({ model: "m", messages });
} catch (error) {
  refused = error.status;
}
console.log(
  JSON.stringify({
    key: process.env.OPENAI_API_KEY.slice(0, 3),
    chat: chat.choices[0].message.content,
    response: response.output_text,
    streamed,
    called: called.choices[0].message.tool_calls[0].function,
    refused,
  }),
);
