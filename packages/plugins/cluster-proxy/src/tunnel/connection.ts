import { type Duplex, finished } from "node:stream";

/** Upgrade request of a client, with its socket and the bytes that were already read. */
export interface UpgradeSocket {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Writes the 101 response. @param lines further header lines @returns the connection */
export async function switchProtocols(
  { socket, head }: UpgradeSocket,
  { protocol, lines = [] }: { readonly protocol: string; readonly lines?: readonly string[] },
): Promise<Duplex> {
  const all = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", `Upgrade: ${protocol}`, ...lines];
  // Node.js's HTTP/2 takes over the socket below the stream, and aborts the process if a write is pending there.
  await written(socket, Buffer.from(`${all.join("\r\n")}\r\n\r\n`, "latin1"));
  if (head.length > 0) socket.unshift(head);
  return socket;
}

/** Resolves when the bytes were passed to the operating system, or never will be. */
function written(socket: Duplex, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

/** Copies bytes both ways. The end of one side ends the other; an error breaks both and never looks like an end. */
export function splice(stream: Duplex, socket: Duplex): void {
  stream.pipe(socket);
  socket.pipe(stream);
  finished(socket, (error) => {
    // Without an error code, since Node.js would first end the stream regularly.
    if (error) stream.destroy(error);
  });
  stream.once("close", () => {
    if (!socket.writableEnded || !socket.readableEnded) socket.destroy();
  });
}
