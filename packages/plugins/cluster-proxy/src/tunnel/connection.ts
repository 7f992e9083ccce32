import { type Duplex, finished } from "node:stream";

/** Somebody who asks to speak another protocol, and what they have said of it already. */
export interface UpgradeSocket {
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Says that it is that protocol from now on. @param lines of headers besides @returns the connection */
export async function switchProtocols(
  { socket, head }: UpgradeSocket,
  { protocol, lines = [] }: { readonly protocol: string; readonly lines?: readonly string[] },
): Promise<Duplex> {
  const all = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", `Upgrade: ${protocol}`, ...lines];
  // Node's HTTP/2 takes over what is below the stream, and ends the process where a write is under way there.
  await written(socket, Buffer.from(`${all.join("\r\n")}\r\n\r\n`, "latin1"));
  if (head.length > 0) socket.unshift(head);
  return socket;
}

/** Resolves when it has been handed to the machine, or never will be. */
function written(socket: Duplex, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

/** What one has said all is told the other; what breaks is broken for both, and never looks like an end. */
export function splice(stream: Duplex, socket: Duplex): void {
  stream.pipe(socket);
  socket.pipe(stream);
  finished(socket, (error) => {
    // Not by its code: Node ends what it has said before that.
    if (error) stream.destroy(error);
  });
  stream.once("close", () => {
    if (!socket.writableEnded || !socket.readableEnded) socket.destroy();
  });
}
