import { type Duplex, finished } from "node:stream";

/** What one has said all is told the other; what breaks is broken for both, and never looks like an end. */
export function join(stream: Duplex, socket: Duplex): void {
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
