import type { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { UsageError } from "../process/failure.ts";

/** The compiler compares it: who asks for help does not wait for the package of kcp's vocabulary. */
const ROOT: typeof ROOT_SHARD = "root";
const PLACEHOLDER = "{shard}";

type Urls<Name extends string> = { readonly [Flag in Name]: string | undefined };

/** The URL of a server that a flag gives, without a last slash. @throws UsageError */
export function urlOf<Name extends string>(flags: Urls<Name>, name: Name): string | undefined {
  const text = flags[name];
  return text && checkedUrl(name, text);
}

/** The URL of a server of each shard that a flag gives. @throws UsageError */
export function shardUrlOf<Name extends string>(flags: Urls<Name>, name: Name): ShardUrl | undefined {
  const text = flags[name];
  return text === undefined ? undefined : new ShardUrl(name, text);
}

/**
 * A URL of `root`, or by a placeholder of each shard. Where kcp runs a process for each shard, and gives each a flag of its
 * own, here one process with one command line has several.
 */
export class ShardUrl {
  readonly #flag: string;
  readonly #text: string;

  /** @throws UsageError */
  constructor(flag: string, text: string) {
    checkedUrl(flag, text.replaceAll(PLACEHOLDER, ROOT));
    this.#flag = flag;
    this.#text = bare(text);
    const [unknown] = /\{[^}]*\}?|\}/.exec(text.replaceAll(PLACEHOLDER, "")) ?? [];
    if (unknown !== undefined)
      throw new UsageError(`--${flag}: ${unknown} stands for nothing: ${PLACEHOLDER} is the name of the shard`);
  }

  /** Whether it is another one for each shard. */
  get isOfEach(): boolean {
    return this.#text.includes(PLACEHOLDER);
  }

  /** Without a last slash. @throws UsageError when it says nothing of that shard */
  of(shard: string): string {
    if (shard !== ROOT && !this.isOfEach)
      throw new UsageError(
        `--${this.#flag}: what is there is of one shard, and there are several: put ${PLACEHOLDER} into its host for the name of the shard, as in https://${PLACEHOLDER}.views.example.com:6444`,
      );
    return this.#text.replaceAll(PLACEHOLDER, shard);
  }
}

/** The names of the shards besides `root` that there are in any case, as kcp calls them. @throws UsageError */
export function shardNames({ shards: count = 1 }: { readonly shards: number | undefined }): readonly string[] {
  if (count === 0) throw new UsageError("--shards 0: give a number from 1 on: the first is root");
  return Array.from({ length: count - 1 }, (_, index) => `shard-${index + 1}`);
}

function checkedUrl(name: string, text: string): string {
  const value = bare(text);
  if (!/^https:\/\/[^/?#@]+$/.test(value) || !URL.canParse(value))
    throw new UsageError(`--${name}: give a URL such as https://kcp.example.com:6443, without user, path or query`);
  return value;
}

function bare(url: string): string {
  return url.replace(/\/+$/, "");
}
