// Why: by default Node.js grants each stream 64 KiB, which is 1 MB/s at a latency of 20 ms. Granted bytes may arrive and be buffered
// without a reader, so all streams of a tunnel share its limit.
import type { Http2Session } from "node:http2";

/** Flow-control windows of one end of a tunnel: bytes that the other end may send before any is read. */
export interface WindowOptions {
  /** Limit of all streams together, bytes, and so the maximum buffer of this end. @default 64 MiB */
  readonly tunnel?: number;
  /** Limit of one stream while there are few, bytes. It allows this amount in each round-trip time: 200 MB/s at 40 ms. @default 8 MiB */
  readonly stream?: number;
}

const MiB = 1024 * 1024;
const LEAST = 64 * 1024;
/** Divisor of the free space. Three parts are reserved for bytes under earlier grants and for new streams. */
const SHARE = 4;
/** Maximum number of changes in flight. */
const CHANGES = 32;

/** Flow control that grants streams less the more streams and unread bytes there are, so that a stream without a reader does not block others. */
export class Windows {
  readonly #session: Http2Session;
  readonly #tunnel: number;
  readonly #stream: number;
  #streams = 0;
  #granted: number;
  #changing = 0;

  /** @throws Error on invalid windows */
  constructor(session: Http2Session, options: WindowOptions = {}) {
    const { tunnel, stream } = checkedWindows(options);
    this.#session = session;
    this.#tunnel = tunnel;
    this.#stream = stream;
    this.#granted = firstWindow(options);
    session.setLocalWindowSize(tunnel);
  }

  /** Number of streams. */
  get streams(): number {
    return this.#streams;
  }

  /** Registers a stream, before its request if this end opens it. */
  opened(): void {
    this.#streams += 1;
    this.adjust();
  }

  closed(): void {
    this.#streams -= 1;
    this.adjust();
  }

  /** Adjusts the grants to the current state. */
  adjust(): void {
    const session = this.#session;
    if (session.destroyed || session.closed || this.#changing >= CHANGES) return;
    const held = session.state.effectiveRecvDataLength ?? 0;
    const share = (this.#tunnel - held) / (SHARE * Math.max(1, this.#streams));
    const window = Math.min(this.#stream, Math.max(LEAST, 2 ** Math.floor(Math.log2(Math.max(1, share)))));
    if (window === this.#granted) return;
    this.#granted = window;
    this.#changing += 1;
    session.settings({ initialWindowSize: window }, () => {
      this.#changing -= 1;
    });
  }
}

/** Returns the window before the first stream. @throws Error on invalid windows */
export function firstWindow(options: WindowOptions = {}): number {
  const { tunnel, stream } = checkedWindows(options);
  return Math.min(stream, 2 ** Math.floor(Math.log2(tunnel / SHARE)));
}

function checkedWindows({ tunnel = 64 * MiB, stream = 8 * MiB }: WindowOptions): Required<WindowOptions> {
  if (!(Number.isSafeInteger(tunnel) && tunnel >= SHARE * LEAST && tunnel < 2 ** 31))
    throw new Error(`invalid windows.tunnel: use at least ${SHARE * LEAST} bytes and less than 2 GiB`);
  if (!(Number.isSafeInteger(stream) && stream >= LEAST && stream <= tunnel))
    throw new Error(`invalid windows.stream: use at least ${LEAST} bytes and at most windows.tunnel`);
  return { tunnel, stream };
}
