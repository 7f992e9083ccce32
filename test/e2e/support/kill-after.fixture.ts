// Loaded by node with `--import …?writes=2`: kills the process without warning after this many writes.
import { subscribe } from "node:diagnostics_channel";

let left = Number(new URL(import.meta.url).searchParams.get("writes"));
if (!(left > 0)) throw new Error("after how many writes? say so by ?writes=");

// The server has answered, and the caller has not received the answer yet.
subscribe("undici:request:headers", (message) => {
  const { request, response } = message as { request: { method: string }; response: { statusCode: number } };
  if (request.method !== "GET" && response.statusCode < 300 && --left === 0) process.kill(process.pid, "SIGKILL");
});
