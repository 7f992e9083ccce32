import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { onAbort } from "@virtual-workspaces/transport";
import type { ProviderChange } from "../../provider/provider.ts";
import { isSpaceName, type ProtocolEvent } from "../protocol/bodies.ts";
import { MEDIA } from "../protocol/protocol.ts";
import { answerTo } from "./answers.ts";

/** Options of {@link answerWatch}. */
export interface WatchOptions {
  readonly hints: ChangeQueue;
  /** Longest pause between lines, ms. */
  readonly heartbeat: number;
  /** Aborts when the watch should end. */
  readonly ending: AbortSignal;
  readonly onError: (error: unknown) => void;
}

const BOOKMARK: ProtocolEvent = { type: "BOOKMARK" };
/** Time limit for a client to read what was written, ms. */
const UNREAD = 60_000;

/** Writes events while the client reads them, until either side ends the watch. */
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

/** Returns the next events, or none at the end. */
async function more({ hints, heartbeat, ending, onError }: WatchOptions): Promise<readonly ProtocolEvent[]> {
  try {
    const news = await hints.next(heartbeat, ending);
    return news?.length === 0 && !ending.aborted ? [BOOKMARK] : (news ?? []);
  } catch (error) {
    // An error after the abort is irrelevant.
    if (ending.aborted) return [];
    onError(error);
    return [{ type: "ERROR", status: answerTo(error).status }];
  }
}

/** Writes with backpressure. @returns false if the client does not read */
async function write(res: ServerResponse, events: readonly ProtocolEvent[], ending: AbortSignal): Promise<boolean> {
  if (res.write(events.map((event) => `${JSON.stringify(event)}\n`).join(""))) return true;
  const late = AbortSignal.timeout(UNREAD);
  await once(res, "drain", { signal: AbortSignal.any([ending, late]) }).catch(() => undefined);
  return !late.aborted;
}

/** Maximum number of queued names for a slow reader; beyond it, the event is about any space. */
const MOST = 1_000;

/** Queue of a provider's changes for a slower reader; repeated changes of a space become one. Listens from construction on. */
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
   * Returns the changes since the last call, at once or as soon as there are any; returns none after `within` ms or when the signal aborts.
   *
   * @returns `undefined` at the end of the changes
   * @throws errors of the provider, after all its changes
   */
  async next(within: number, signal: AbortSignal): Promise<readonly ProtocolEvent[] | undefined> {
    if (!this.#any && this.#names.size === 0 && this.#over === undefined && !signal.aborted)
      await this.#news(within, signal);
    const events = this.#taken();
    if (events.length > 0 || this.#over === undefined) return events;
    if ("error" in this.#over) throw this.#over.error;
    return undefined;
  }

  /** Stops listening, without waiting for a provider that ignores it. */
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
