// A reader of a watch across Spaces that applies all events, and records those that cannot be correct.
import type { SpaceEvent } from "@virtual-workspaces/spaces";
import { until } from "../../../_support/until.ts";
import type { NoteContent } from "../../../client/informer/support.ts";

type Told = SpaceEvent<NoteContent>;

export class Reader implements AsyncDisposable {
  /** Known texts by note, by Space. */
  readonly known: Map<string, Map<string, string>>;
  readonly lines: string[] = [];
  /** Events that were repeated or cannot be correct. */
  readonly wrong: string[] = [];
  /** Cursor and state after each event except bookmarks. */
  readonly cursors: { readonly cursor: string; readonly known: ReadonlyMap<string, ReadonlyMap<string, string>> }[] =
    [];
  cursor = "";
  /** Resolves with the end of the watch. */
  readonly over: Promise<unknown>;
  readonly #watch: AsyncGenerator<Told, void, undefined>;
  readonly #keeps: boolean;
  #seen = 0;
  #held: PromiseWithResolvers<void> | undefined;

  /** @param known state at the cursor that the watch resumes from */
  constructor(
    watch: AsyncGenerator<Told, void, undefined>,
    {
      known = new Map(),
      keeps = false,
    }: {
      readonly known?: Iterable<readonly [string, Iterable<readonly [string, string]>]>;
      readonly keeps?: boolean;
    } = {},
  ) {
    this.known = new Map([...known].map(([space, notes]) => [space, new Map(notes)]));
    this.#watch = watch;
    this.#keeps = keeps;
    this.over = this.#read();
  }

  /** Waits for exactly these lines, in any order between Spaces and in this one within a Space. */
  async heard(...lines: readonly string[]): Promise<void> {
    await until(() => this.lines.length >= this.#seen + lines.length, {
      what: `${lines.join(", ")} in ${this.lines.slice(this.#seen).join(", ")}`,
    });
    const heard = this.lines.slice(this.#seen);
    this.#seen = this.lines.length;
    const sorted = (all: readonly string[]): string =>
      [...all].sort((a, b) => (spaceOf(a) < spaceOf(b) ? -1 : spaceOf(a) > spaceOf(b) ? 1 : 0)).join("\n");
    if (sorted(heard) !== sorted(lines)) throw new Error(`heard:\n${sorted(heard)}\ninstead of:\n${sorted(lines)}`);
  }

  /** Pauses after the next event. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** Resumes. */
  go(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.go();
    await this.#watch.return();
    await this.over;
  }

  async #read(): Promise<unknown> {
    try {
      for await (const event of this.#watch) {
        this.#take(event);
        if (event.type === "BOOKMARK") continue;
        this.lines.push(lineOf(event));
        if (this.#keeps)
          this.cursors.push({
            cursor: event.cursor,
            known: new Map([...this.known].map(([space, notes]) => [space, new Map(notes)])),
          });
        this.cursor = event.cursor;
        await this.#held?.promise;
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #take(event: Told): void {
    if (event.type === "LEFT") this.known.delete(event.space);
    else if (event.type === "RESET") this.known.set(event.space, new Map());
    const notes = this.known.get(event.space) ?? new Map<string, string>();
    if (!("object" in event)) return;
    this.known.set(event.space, notes);
    const { name = "" } = event.object.metadata;
    if (notes.has(name) === (event.type === "ADDED")) this.wrong.push(lineOf(event));
    if (event.type === "DELETED") notes.delete(name);
    else notes.set(name, event.object.spec.text ?? "");
  }
}

const spaceOf = (line: string): string => line.split(" ")[1] ?? "";

function lineOf(event: Told): string {
  const { type, space } = event;
  if ("object" in event) return `${SIGNS[event.type]} ${space} ${event.object.metadata.name} ${event.object.spec.text}`;
  return [type, space, "reason" in event ? event.reason : "how" in event ? event.how : ""].join(" ").trim();
}

const SIGNS = { ADDED: "+", MODIFIED: "=", DELETED: "-" } as const;
