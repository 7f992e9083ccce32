import { STATUS_CODES } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import type { ResponseHeaders, StreamedResponse, UpgradedResponse } from "@virtual-workspaces/transport";
import { tellHeaders } from "./upstream-answer.ts";

/**
 * Time a closed connection may go on, ms. The peer of a connection that is cut at once, with bytes unread, may lose the last
 * response.
 */
const LINGER = 2_000;

/** Joins two connections until one of them has ended. @param head bytes the client has already sent */
export async function passUpgrade(answer: UpgradedResponse, socket: Duplex, head: Buffer): Promise<void> {
  const { socket: there, headers } = answer;
  const protocol = [headers["upgrade"] ?? []].flat().join(", ");
  writeHead(socket, { ...answer, location: "" }, ["Connection: Upgrade", `Upgrade: ${protocol}`]);
  if (head.length > 0) there.write(head);
  // Either end may close its sending side and still read.
  socket.pipe(there);
  there.pipe(socket);
  await Promise.allSettled([over(socket, there), over(there, socket)]);
}

/** Both connections end when one is cut; the pipe forwards a regular end. */
async function over(one: Duplex, other: Duplex): Promise<void> {
  await finished(one).catch(() => one.destroy());
  if (one.readableEnded) await deafened(other);
  else other.destroy();
}

/** Discards further input of a socket whose peer is gone; its output is still delivered. */
async function deafened(socket: Duplex): Promise<void> {
  const ended = finished(socket).catch(() => undefined);
  socket.resume(); // the pipe has stopped: without reading, the end would go unnoticed
  await finished(socket, { readable: false }).catch(() => undefined);
  const cut = setTimeout(() => socket.destroy(), LINGER);
  await ended;
  clearTimeout(cut);
}

/**
 * Sends the upstream's HTTP response to a rejected upgrade, and closes the connection. Security: nothing that the client
 * sends after the rejection may reach the upstream (CVE-2018-1002105).
 */
export async function refuseUpgrade(
  answer: StreamedResponse,
  { socket, location }: { readonly socket: Duplex; readonly location: string },
): Promise<void> {
  writeHead(socket, { ...answer, location }, ["Connection: close"]);
  await pipeline(Readable.from(answer.body), socket).catch(() => socket.destroy());
}

interface Head {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly location: string;
}

function writeHead(socket: Duplex, { status, headers, location }: Head, connection: readonly string[]): void {
  const lines: string[] = [];
  tellHeaders(headers, location, (name, value) => {
    for (const one of [value].flat()) lines.push(`${name}: ${one}`);
  });
  const text = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, ...lines, ...connection, "", ""].join("\r\n");
  socket.write(Buffer.from(text, "latin1"));
}
