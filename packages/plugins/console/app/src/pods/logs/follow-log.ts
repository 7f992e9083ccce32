import type { Parameters } from "../../api/base.ts";
import { asStatusError, type StatusError, send } from "../../api/client.ts";
import { backoff, pause, setLost } from "../../api/connection.ts";
import { timeOf } from "./log-lines.ts";

export interface LogState {
  readonly state: "connecting" | "following" | "reconnecting" | "ended" | "failed";
  readonly error?: StatusError;
}

export interface LogSource {
  /** Path of the subresource `log`. */
  readonly path: string;
  readonly container: string;
  /** The container before the last restart: its log has an end. */
  readonly isPrevious: boolean;
  /** Number of lines to begin with. Default: all. */
  readonly tail: number | undefined;
  /** Whether the container runs, so that the end of the log is an interruption. */
  readonly isRunning: () => boolean;
  readonly onLines: (raws: readonly string[]) => void;
  readonly onState: (state: LogState) => void;
}

/** After so many milliseconds a connection counts as one that works: the next attempt after it is fast again. */
const STABLE = 5_000;
/** Firefox shows the answer to a request with its first bytes: a log without lines for so many milliseconds is empty. */
const SILENT = 1_000;
/** Characters of a line without an end that are kept. */
const LONGEST = 1_000_000;
/** Lines of a second that are kept to compare: of more lines, some are shown twice after an interruption. */
const MOST_RECENT = 10_000;

/** Follows the log of a container until the returned function is called. Reads on where it was interrupted. */
export function followLog(source: LogSource): () => void {
  const stop = new AbortController();
  void run(source, stop.signal).finally(() => setLost(source, false));
  return () => stop.abort();
}

async function run(source: LogSource, stop: AbortSignal): Promise<void> {
  const place = new Place();
  for (let failures = 0; !stop.aborted; failures += 1) {
    const began = performance.now();
    let error: StatusError | undefined;
    try {
      await readOnce(source, place, stop);
      if (stop.aborted) return;
      if (source.isPrevious || !source.isRunning()) return source.onState({ state: "ended" });
    } catch (cause) {
      if (stop.aborted) return;
      error = asStatusError(cause);
      if (!error.isTransient) return source.onState({ state: "failed", error });
      setLost(source, error.code === 0);
    }
    source.onState({ state: "reconnecting", ...(error !== undefined && { error }) });
    if (performance.now() - began > STABLE) failures = 0;
    await pause(backoff(failures + 1), stop);
  }
}

async function readOnce(source: LogSource, place: Place, stop: AbortSignal): Promise<void> {
  const { path, container, isPrevious, tail } = source;
  const from: Parameters = place.from ?? { tailLines: tail };
  const parameters = { container, previous: isPrevious, follow: !isPrevious, timestamps: true, ...from };
  const onFollowing = () => source.onState({ state: "following" });
  const silent = isPrevious ? undefined : setTimeout(onFollowing, SILENT);
  const { body } = await send(path, { parameters, accept: "*/*", signal: stop }).finally(() => clearTimeout(silent));
  setLost(source, false);
  onFollowing();
  place.begin();
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = (lines.pop() ?? "").slice(0, LONGEST);
    source.onLines(place.fresh(lines));
  }
  if (rest !== "") source.onLines(place.fresh([rest]));
}

/** Where a log was interrupted: the server goes on from a second, whose lines the page has read in part. */
class Place {
  /** Lines of the last second. */
  #recent: string[] = [];
  #second = "";
  #last = "";
  #hasLines = false;
  /** Lines that are expected again, with their number. */
  #expected = new Map<string, number>();

  /** Parameters to read on; undefined at the beginning. */
  get from(): Parameters | undefined {
    if (!this.#hasLines) return undefined;
    return this.#last === "" ? { tailLines: 0 } : { sinceTime: this.#last };
  }

  /** A connection is open. */
  begin(): void {
    this.#expected = new Map();
    for (const line of this.#recent) this.#expected.set(line, (this.#expected.get(line) ?? 0) + 1);
  }

  /** Returns the lines that are new. */
  fresh(lines: readonly string[]): readonly string[] {
    return lines.filter((line) => {
      const count = this.#expected.get(line) ?? 0;
      if (count > 0) {
        this.#expected.set(line, count - 1);
        return false;
      }
      this.#note(line);
      return true;
    });
  }

  #note(line: string): void {
    this.#hasLines = true;
    const time = timeOf(line);
    if (time === "") return;
    const second = time.slice(0, "2026-01-01T00:00:00".length);
    if (second !== this.#second) this.#recent = [];
    if (this.#recent.length >= 2 * MOST_RECENT) this.#recent = this.#recent.slice(-MOST_RECENT);
    this.#second = second;
    this.#last = time;
    this.#recent.push(line);
  }
}
