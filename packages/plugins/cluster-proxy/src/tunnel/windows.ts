// Why: by itself Node grants each stream 64 KiB, which is 1 MB/s where a packet takes 20 ms. What is granted instead can come
// in and be held when nobody reads, so all streams of a tunnel share what it may hold.
import type { Http2Session } from "node:http2";

/** What one end of a tunnel lets the other send before anything of it has been read. */
export interface WindowOptions {
  /** By all streams together, bytes: what they can make this end hold. @default 64 MiB */
  readonly tunnel?: number;
  /** By one stream while there are few, bytes. What it can bring is this for each round trip: 200 MB/s at 40 ms. @default 8 MiB */
  readonly stream?: number;
}

const MiB = 1024 * 1024;
const LEAST = 64 * 1024;
/** What may still be on its way under a former grant, and what others need who come then, are three parts of what is free. */
const SHARE = 4;
/** So many changes may be on their way. */
const CHANGES = 32;

/** Grants streams less the more there are and the more is held unread, so that one that nobody reads does not stop the others. */
export class Windows {
  readonly #session: Http2Session;
  readonly #tunnel: number;
  readonly #stream: number;
  #streams = 0;
  #granted: number;
  #changing = 0;

  /** @throws Error on windows that cannot be used */
  constructor(session: Http2Session, options: WindowOptions = {}) {
    const { tunnel, stream } = checkedWindows(options);
    this.#session = session;
    this.#tunnel = tunnel;
    this.#stream = stream;
    this.#granted = firstWindow(options);
    session.setLocalWindowSize(tunnel);
  }

  /** How many streams there are. */
  get streams(): number {
    return this.#streams;
  }

  /** There is one more; before it is asked for, where it is asked for here. */
  opened(): void {
    this.#streams += 1;
    this.adjust();
  }

  closed(): void {
    this.#streams -= 1;
    this.adjust();
  }

  /** Grants what is right as things are now. */
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

/** What is granted before any stream is there. @throws Error on windows that cannot be used */
export function firstWindow(options: WindowOptions = {}): number {
  const { tunnel, stream } = checkedWindows(options);
  return Math.min(stream, 2 ** Math.floor(Math.log2(tunnel / SHARE)));
}

function checkedWindows({ tunnel = 64 * MiB, stream = 8 * MiB }: WindowOptions): Required<WindowOptions> {
  if (!(Number.isSafeInteger(tunnel) && tunnel >= SHARE * LEAST && tunnel < 2 ** 31))
    throw new Error(`windows.tunnel: give bytes, at least ${SHARE * LEAST} and below 2 GiB`);
  if (!(Number.isSafeInteger(stream) && stream >= LEAST && stream <= tunnel))
    throw new Error(`windows.stream: give bytes, at least ${LEAST} and at most windows.tunnel`);
  return { tunnel, stream };
}
