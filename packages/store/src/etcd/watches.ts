import { checkCount, checkRange } from "../engine/limits.ts";
import type { KeyRange, Watch, WatchOptions } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Keys } from "./conversion.ts";
import { verdict } from "./errors.ts";
import { Following, type FollowingHost } from "./etcd-watch.ts";
import type { Member } from "./member.ts";
import type { Members } from "./members.ts";
import { watch } from "./methods.ts";
import { Progress, trusted } from "./progress.ts";
import type { Reader } from "./range-reader.ts";
import type { Known } from "./revision-tracker.ts";
import { Line } from "./watch-stream.ts";

/** The first pause before a broken line is made again, ms; the next ones are longer. */
const PAUSE = 50;
const LONGEST_PAUSE = 1000;

/** All watches of a store, on one line as long as there are any. */
export class Watches implements FollowingHost, Disposable {
  readonly #members: Members;
  readonly #reader: Reader;
  readonly #known: Known;
  readonly #keys: Keys;
  readonly #all = new Set<Following>();
  readonly #progress: Progress;
  #line: Line | undefined;
  #keeping = false;

  constructor(members: Members, keys: Keys, { reader, known }: { readonly reader: Reader; readonly known: Known }) {
    this.#members = members;
    this.#reader = reader;
    this.#known = known;
    this.#keys = keys;
    this.#progress = new Progress(members, reader, () => this.#line);
    members.onleave = (member) => {
      if (this.#line?.member === member) this.#line.drop();
    };
    known.onreplaced = (error) => {
      this.#failAll(error);
      this.#line?.drop(); // it may still be held by the former one
    };
  }

  follow(range: KeyRange, options: WatchOptions): Watch {
    const following = new Following(range, options, { keys: this.#keys, host: this });
    try {
      this.#check(range, options);
    } catch (error) {
      following.fail(error as StoreError);
      return following;
    }
    if (options.signal?.aborted) following.end();
    else {
      this.#all.add(following);
      if (this.#line === undefined) void this.#keepLine();
      else this.#add(this.#line, following);
    }
    return following;
  }

  wanted(following: Following): void {
    this.#progress.want(following);
  }

  drained(following: Following): void {
    const line = this.#line;
    if (line === undefined) return;
    if (line.has(following)) line.resume(following);
    else this.#add(line, following);
  }

  incomplete(following: Following): void {
    if (this.#line?.has(following)) this.#line.again(following);
  }

  left(following: Following): void {
    this.#all.delete(following);
    this.#line?.remove(following);
  }

  [Symbol.dispose](): void {
    for (const following of [...this.#all]) following.end();
    this.#line?.drop();
  }

  /** One line after the other, while there is something to follow. */
  async #keepLine(): Promise<void> {
    if (this.#keeping) return;
    this.#keeping = true;
    for (let pause = PAUSE; this.#all.size > 0 && !this.#members.closed.aborted; ) {
      const { current } = this.#members;
      const line = await this.#open(current);
      if (line?.heard) pause = PAUSE;
      else this.#members.leave(current);
      if (this.#all.size > 0) await this.#members.pause(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    this.#keeping = false;
  }

  /** Opens a line, and resolves when it has broken. */
  async #open(member: Member): Promise<Line | undefined> {
    let line: Line | undefined;
    let cause: unknown;
    try {
      line = new Line(await this.#members.stream(watch, member), member, {
        denied: (following, reason) => this.#denied(following, reason),
        trusted: (asked) => trusted(this.#members, asked),
        told: (header) => this.#known.told(header),
        behind: () => void this.#reader.head(this.#members.closed).catch(() => undefined),
      });
      this.#line = line;
      for (const following of this.#all) this.#add(line, following);
      cause = await line.broken;
    } catch (error) {
      cause = error;
    }
    this.#line = undefined;
    line?.drop();
    const found = verdict(cause, member.name);
    if (found.is === "token") this.#members.forgetToken();
    if (found.is === "final") this.#failAll(found.error);
    return line;
  }

  #check(range: KeyRange, { after }: WatchOptions): void {
    if (this.#members.closed.aborted) throw StoreError.closed(this.#members.name);
    checkRange(range);
    checkCount("the revision to watch after", after, 0);
  }

  #add(line: Line, following: Following): void {
    line.add(following, following.sure < this.#known.revision);
  }

  #failAll(error: StoreError): void {
    for (const following of [...this.#all]) following.fail(error);
  }

  #denied(following: Following, reason: string): void {
    if (following.denied) {
      following.fail(new StoreError("Denied", `${this.#members.name}: ${reason}`));
      return;
    }
    following.denied = true;
    this.#members.forgetToken();
    this.#line?.drop();
  }
}
