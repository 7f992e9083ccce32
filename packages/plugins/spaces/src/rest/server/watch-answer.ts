import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { onAbort } from "@virtual-workspaces/transport";
import type { ProviderChange } from "../../provider/provider.ts";
import { isSpaceName, type ProtocolEvent } from "../protocol/bodies.ts";
import { MEDIA } from "../protocol/protocol.ts";
import { answerTo } from "./answers.ts";

/** How a watch is answered. */
export interface WatchOptions {
  readonly hints: ChangeQueue;
  /** How long it says nothing, ms. */
  readonly heartbeat: number;
  /** Aborts when it is to end. */
  readonly ending: AbortSignal;
  readonly onError: (error: unknown) => void;
}

const BOOKMARK: ProtocolEvent = { type: "BOOKMARK" };
/** How long a client may leave unread what has been written, ms. */
const UNREAD = 60_000;

/** Says what changes, as long as it is read, until one side ends it. */
export async function answerWatch(res: ServerResponse, options: WatchOptions): Promise<void> {
  const { ending } = options;
  res.writeHead(200, { "Content-Type": MEDIA.events, "Cache-Control": "no-cache, private" });
  for (let events: readonly ProtocolEvent[] = [BOOKMARK]; events.length > 0; ) {
    const isRead = await write(res, events, ending);
    if (!isRead) return void res.destroy();
    const isLast = ending.aborted || events.at(-1)?.type === "ERROR";
    events = isLast ? [] : await more(options);
  }
  res.end();
}

/** What there is to say next; nothing: that was all. */
async function more({ hints, heartbeat, ending, onError }: WatchOptions): Promise<readonly ProtocolEvent[]> {
  try {
    const news = await hints.next(heartbeat, ending);
    return news?.length === 0 && !ending.aborted ? [BOOKMARK] : (news ?? []);
  } catch (error) {
    // What is ended says so as it likes.
    if (ending.aborted) return [];
    onError(error);
    return [{ type: "ERROR", status: answerTo(error).status }];
  }
}

/** At the pace of whoever reads. @returns false: they do not */
async function write(res: ServerResponse, events: readonly ProtocolEvent[], ending: AbortSignal): Promise<boolean> {
  if (res.write(events.map((event) => `${JSON.stringify(event)}\n`).join(""))) return true;
  const late = AbortSignal.timeout(UNREAD);
  await once(res, "drain", { signal: AbortSignal.any([ending, late]) }).catch(() => undefined);
  return !late.aborted;
}

/** Names that are kept for a reader who lags: more are any. */
const MOST = 1_000;

/** What a provider says to have changed, for one who reads at a pace of their own: what is said twice meanwhile is said once. Begins to listen when it is made. */
export class ChangeQueue implements Disposable {
  readonly #changes: AsyncIterator<ProviderChange>;
  readonly #names = new Set<string>();
  #any = false;
  #over: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(changes: AsyncIterable<ProviderChange>) {
    this.#changes = changes[Symbol.asyncIterator]();
    void this.#listen();
  }

  /**
   * What has changed since it was asked last: at once, or as soon as something has; nothing, when it has been waited for so long, ms, or the signal is aborted.
   *
   * @returns `undefined`: there is nothing more to come
   * @throws what the provider throws, after all that it has said
   */
  async next(within: number, signal: AbortSignal): Promise<readonly ProtocolEvent[] | undefined> {
    if (!this.#any && this.#names.size === 0 && this.#over === undefined && !signal.aborted)
      await this.#news(within, signal);
    const events = this.#taken();
    if (events.length > 0 || this.#over === undefined) return events;
    if ("error" in this.#over) throw this.#over.error;
    return undefined;
  }

  /** Nobody listens any more; a provider that does not mind is not waited for. */
  [Symbol.dispose](): void {
    this.#changes.return?.().catch(() => undefined);
  }

  async #news(within: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, within);
    this.#wake = resolve;
    using _ = onAbort(signal, resolve);
    await promise;
    clearTimeout(timer);
  }

  async #listen(): Promise<void> {
    try {
      for (let step = await this.#changes.next(); step.done !== true; step = await this.#changes.next()) {
        this.#hear(step.value);
        this.#wake();
      }
      this.#over = {};
    } catch (error) {
      this.#over = { error };
    }
    this.#wake();
  }

  #hear({ name }: ProviderChange): void {
    if (!isSpaceName(name) || this.#names.size >= MOST) this.#any = true;
    if (this.#any) this.#names.clear();
    else if (isSpaceName(name)) this.#names.add(name);
  }

  #taken(): readonly ProtocolEvent[] {
    const events: readonly ProtocolEvent[] = this.#any
      ? [{ type: "CHANGED" }]
      : [...this.#names].map((name) => ({ type: "CHANGED", name }));
    this.#any = false;
    this.#names.clear();
    return events;
  }
}
