import { STATUS_CODES } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import type { ResponseHeaders, StreamedResponse, UpgradedResponse } from "@virtual-workspaces/transport";
import { answerHeaders } from "./answer-headers.ts";

/** Joins two connections until one of them has ended. @param head what the client has sent already */
export async function passUpgrade(answer: UpgradedResponse, socket: Duplex, head: Buffer): Promise<void> {
  const { socket: there, headers } = answer;
  const protocol = [headers["upgrade"] ?? []].flat().join(", ");
  writeHead(socket, answer, ["Connection: Upgrade", `Upgrade: ${protocol}`]);
  if (head.length > 0) there.write(head);
  // Either end may say that it has nothing more to say and still listen.
  socket.pipe(there);
  there.pipe(socket);
  await Promise.allSettled([over(socket, there), over(there, socket)]);
}

/** Both end when one is cut; what ends is passed on by the pipe. */
async function over(one: Duplex, other: Duplex): Promise<void> {
  try {
    await finished(one);
  } catch {
    one.destroy();
  } finally {
    if (one.destroyed && !one.readableEnded) other.destroy();
  }
}

/** Says in HTTP what the other server said instead, and closes behind it. */
export async function refuseUpgrade(answer: StreamedResponse, socket: Duplex): Promise<void> {
  writeHead(socket, answer, ["Connection: close"]);
  await pipeline(Readable.from(answer.body), socket).catch(() => socket.destroy());
}

interface Head {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

function writeHead(socket: Duplex, { status, headers }: Head, connection: readonly string[]): void {
  const lines = answerHeaders(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  const text = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines, ...connection, "", ""].join("\r\n");
  socket.write(Buffer.from(text, "latin1"));
}
