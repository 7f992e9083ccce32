// Given to node by `--import …?writes=2`: kills the process as nobody can prepare for, once so many of its writes have been done.
import { subscribe } from "node:diagnostics_channel";

let left = Number(new URL(import.meta.url).searchParams.get("writes"));
if (!(left > 0)) throw new Error("after how many writes? say so by ?writes=");

// The server has answered, and nobody here has been told yet.
subscribe("undici:request:headers", (message) => {
  const { request, response } = message as { request: { method: string }; response: { statusCode: number } };
  if (request.method !== "GET" && response.statusCode < 300 && --left === 0) process.kill(process.pid, "SIGKILL");
});
