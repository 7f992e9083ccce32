import type { ROOT_SHARD } from "@virtual-workspaces/kcp";
import { UsageError } from "../process/failure.ts";

/** Compared by the compiler, so that `--help` does not import the kcp package. */
const ROOT: typeof ROOT_SHARD = "root";
const PLACEHOLDER = "{shard}";

type Urls<Name extends string> = { readonly [Flag in Name]: string | undefined };

/** Returns the URL in a flag, without a trailing slash. @throws UsageError */
export function urlOf<Name extends string>(flags: Urls<Name>, name: Name): string | undefined {
  const text = flags[name];
  return text && checkedUrl(name, text);
}

/** Returns the URL in a flag, which may differ for each shard. @throws UsageError */
export function shardUrlOf<Name extends string>(flags: Urls<Name>, name: Name): ShardUrl | undefined {
  const text = flags[name];
  return text === undefined ? undefined : new ShardUrl(name, text);
}

/**
 * A URL of the shard `root`, or of each shard with a placeholder. kcp runs one process with its own flag for each shard; here
 * one process serves several.
 */
export class ShardUrl {
  readonly #flag: string;
  readonly #text: string;

  /** Checks the URL. @throws UsageError */
  constructor(flag: string, text: string) {
    checkedUrl(flag, text.replaceAll(PLACEHOLDER, ROOT));
    this.#flag = flag;
    this.#text = bare(text);
    const [unknown] = /\{[^}]*\}?|\}/.exec(text.replaceAll(PLACEHOLDER, "")) ?? [];
    if (unknown !== undefined)
      throw new UsageError(
        `invalid value for --${flag}: unknown placeholder ${unknown}: use ${PLACEHOLDER} for the name of the shard`,
      );
  }

  /** Whether the URL differs for each shard. */
  get isOfEach(): boolean {
    return this.#text.includes(PLACEHOLDER);
  }

  /** Returns the URL of a shard, without a trailing slash. @throws UsageError when the URL is only for `root` */
  of(shard: string): string {
    if (shard !== ROOT && !this.isOfEach)
      throw new UsageError(
        `invalid value for --${this.#flag}: it is the URL of one shard, and there are several: put ${PLACEHOLDER} into its host, as in https://${PLACEHOLDER}.views.example.com:6444`,
      );
    return this.#text.replaceAll(PLACEHOLDER, shard);
  }
}

/** Returns the names of the fixed shards besides `root`, as kcp names them. @throws UsageError */
export function shardNames({ shards: count = 1 }: { readonly shards: number | undefined }): readonly string[] {
  if (count === 0)
    throw new UsageError('invalid value "0" for --shards: use a number from 1 on, the first shard is root');
  return Array.from({ length: count - 1 }, (_, index) => `shard-${index + 1}`);
}

function checkedUrl(name: string, text: string): string {
  const value = bare(text);
  if (!/^https:\/\/[^/?#@]+$/.test(value) || !URL.canParse(value))
    throw new UsageError(
      `invalid value for --${name}: use a URL such as https://kcp.example.com:6443, without user, path and query`,
    );
  return value;
}

function bare(url: string): string {
  return url.replace(/\/+$/, "");
}
