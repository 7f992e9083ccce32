// One client connection to a FaultyUpstream, with its connection to the real server.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type FaultyRequest, type RequestPiece, RequestReader } from "./faulty-request.ts";

/** End of a connection: reset, closed as after an answer, or open without any further bytes. */
export type Ending = "reset" | "close" | "hang";

/** Bytes of the real server's answer to forward, and how the connection ends after them, if it does. */
export interface Passed {
  readonly bytes: Buffer;
  readonly ending?: Ending;
}

/** Received request, with the possible reactions. */
export interface Asked {
  readonly request: FaultyRequest;
  /** Forwards the request to the real server. */
  forward(): void;
  /** Filters the bytes of the real server's answer as they arrive. */
  filter(each: (bytes: Buffer) => Passed): void;
  /** Sends bytes to the client. Resolves when they have been written; false when the client has left. */
  answer(bytes: Buffer | string): Promise<boolean>;
  end(how: Ending): void;
}

/** Functions that a connection uses of its FaultyUpstream. */
export interface Surroundings {
  readonly target: URL;
  /** Returns how to handle a request. */
  decide(request: FaultyRequest): (asked: Asked) => void | Promise<void>;
  /** Resolves as soon as bytes may pass. */
  passable(): Promise<void>;
  readonly blocked: boolean;
  count(direction: "received" | "sent", bytes: number): void;
  closed(connection: Connection): void;
}

export class Connection implements Asked {
  request: FaultyRequest = { method: "", path: "", headers: {} };
  readonly #around: Surroundings;
  readonly #client: Socket;
  readonly #reader = new RequestReader();
  #server: Socket | undefined;
  #work: Promise<void> = Promise.resolve();
  #forwarding = false;
  #held: Buffer[] = [];
  #filter: ((bytes: Buffer) => Passed) | undefined;
  #hung = false;

  constructor(client: Socket, around: Surroundings) {
    this.#client = client;
    this.#around = around;
    client.setNoDelay(true);
    client.on("data", (bytes) => {
      around.count("received", bytes.length);
      this.#work = this.#work.then(() => this.#read(bytes)).catch(() => this.end("reset"));
    });
    client.on("end", () => {
      // No answer can arrive any more, so the client counts as gone.
      if (this.#hung || around.blocked) client.destroy();
      else void this.#work.then(() => (this.#server ?? client).end());
    });
    client.on("error", () => client.destroy());
    client.on("close", () => {
      this.#server?.destroy();
      around.closed(this);
    });
  }

  forward(): void {
    // The client may have left while its answer was held back.
    if (this.#client.destroyed) return;
    this.#forwarding = true;
    for (const bytes of this.#held.splice(0)) this.#reach().write(bytes);
  }

  filter(each: (bytes: Buffer) => Passed): void {
    this.#filter = each;
  }

  async answer(bytes: Buffer | string): Promise<boolean> {
    await this.#around.passable();
    if (!this.#client.writable) return false;
    const piece = Buffer.from(bytes as string, "utf8");
    this.#around.count("sent", piece.length);
    return new Promise((resolve) => {
      const gone = (): void => resolve(false);
      this.#client.once("close", gone);
      this.#client.write(piece, (error) => {
        this.#client.off("close", gone);
        resolve(error === undefined || error === null);
      });
    });
  }

  end(how: Ending): void {
    if (how === "hang") this.#hung = true;
    else if (how === "close") this.#client.end(() => this.#server?.destroy());
    else this.#reset();
  }

  /** Why not always a reset: Node leaks the handle of a socket that is reset while it ends. */
  #reset(): void {
    if (this.#client.writableEnded) this.#client.destroy();
    else this.#client.resetAndDestroy();
  }

  /** Stops or resumes the transfer. */
  block(blocked: boolean): void {
    if (blocked) this.#server?.pause();
    else this.#server?.resume();
  }

  async #read(bytes: Buffer): Promise<void> {
    await this.#around.passable();
    if (this.#hung) return;
    for (const piece of this.#reader.read(bytes)) await this.#meet(piece);
  }

  async #meet({ begins, bytes }: RequestPiece): Promise<void> {
    if (begins === undefined) {
      if (this.#forwarding) this.#reach().write(bytes);
      return;
    }
    this.request = begins;
    this.#forwarding = false;
    this.#filter = undefined;
    this.#held = [bytes];
    await this.#around.decide(begins)(this);
  }

  /** Returns the connection to the real server, and opens it on first use. */
  #reach(): Socket {
    if (this.#server !== undefined) return this.#server;
    const { hostname, port, protocol } = this.#around.target;
    const place = { host: hostname, port: Number(port) };
    const server =
      protocol === "https:" ? connectTls({ ...place, rejectUnauthorized: false }) : connectTcp({ ...place });
    this.#server = server;
    server.setNoDelay(true);
    server.on("data", (bytes) => this.#carry(bytes));
    server.on("end", () => {
      if (!this.#hung) this.#client.end();
    });
    server.on("error", () => this.#reset());
    if (this.#around.blocked) server.pause();
    return server;
  }

  #carry(bytes: Buffer): void {
    if (this.#hung) return;
    const passed = this.#filter?.(bytes) ?? { bytes };
    const { ending } = passed;
    this.#around.count("sent", passed.bytes.length);
    if (ending !== undefined) {
      this.#server?.removeAllListeners("data").resume();
      // The forwarded bytes must be written before the connection ends.
      this.#client.write(passed.bytes, () => this.end(ending));
      if (ending === "hang") this.#hung = true;
      return;
    }
    if (this.#client.write(passed.bytes)) return;
    this.#server?.pause();
    this.#client.once("drain", () => {
      if (!this.#around.blocked) this.#server?.resume();
    });
  }
}
