import { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const CRLF = Buffer.from("\r\n");

/** Bytes for many responses, framed once for all of them as a chunk of HTTP's chunked encoding (RFC 9112, 7.1). */
export class Chunk {
  readonly framed: Buffer;
  /** How many events they are. */
  readonly events: number;
  readonly #head: number;

  constructor(pieces: readonly Buffer[], events: number) {
    this.events = events;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const head = Buffer.from(`${length.toString(16)}\r\n`);
    this.framed = Buffer.concat([head, ...pieces, CRLF]);
    this.#head = head.length;
  }

  /** Without the frame. */
  get bytes(): Buffer {
    return this.framed.subarray(this.#head, -CRLF.length);
  }
}

/**
 * A response that has begun, for chunks that it shares with others. Node frames every write of every response anew and
 * hands it to the socket in four pieces; a chunk that is framed already goes to the socket as it is, for a quarter less
 * CPU. Only where that is all that Node would do: not when a middleware has put itself in front (compression), not for
 * HTTP/1.0, nor while another response has the socket.
 */
export class ChunkStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** False when the socket wants no more for now. */
  write(chunk: Chunk): boolean {
    const socket = this.#socket;
    return socket === null ? this.#response.write(chunk.bytes) : socket.write(chunk.framed);
  }

  /** Calls back once what was written last has left. */
  onceDrained(listener: () => void): void {
    (this.#socket ?? this.#response).once("drain", listener);
  }

  /** Where chunks may go as they are. */
  get #socket(): Socket | null {
    const { chunkedEncoding, write, socket } = this.#response;
    return chunkedEncoding && write === ServerResponse.prototype.write ? socket : null;
  }
}
