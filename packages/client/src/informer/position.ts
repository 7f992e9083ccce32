import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { UpstreamFault } from "./checked.ts";
import type { RelistReason } from "./events.ts";

/** Up to where a server was followed. Only versions of lists, events and bookmarks come here, as the server orders them. */
export class Position {
  readonly #rewindAfter: number;
  /** Where the next watch begins; "" when everything is to be read. */
  #version = "";
  /** The newest version that the server was ever seen at. */
  #newest = "";
  #behindSince: number | undefined;
  #reason: RelistReason | undefined;

  constructor(rewindAfter: number) {
    this.#rewindAfter = rewindAfter;
  }

  get version(): string {
    return this.#version;
  }

  /** Everything is to be read anew. */
  lose(reason: RelistReason): void {
    this.#version = "";
    this.#reason = reason;
  }

  /** A watch told something of this version. */
  advance(version: string): void {
    this.#version = later(this.#version, version);
    this.#newest = later(this.#newest, this.#version);
  }

  /** A bookmark says that the server is at a version. @throws UpstreamFault when that is before where the watch began */
  bookmark(version: string): void {
    if (isOlder(version, this.#version)) {
      const error = new UpstreamFault(`the server is at ${version}, and was at ${this.#version} before`);
      this.lose("rewound");
      throw error;
    }
    this.advance(version);
  }

  /**
   * Everything was read, as of a version.
   *
   * @returns why it was read again, `undefined` the first time
   * @throws UpstreamFault when the server was at a newer version before: it lags, unless it does so for long
   */
  begin(version: string): RelistReason | undefined {
    if (isOlder(version, this.#newest)) {
      const now = performance.now();
      this.#behindSince ??= now;
      if (now - this.#behindSince < this.#rewindAfter)
        throw new UpstreamFault(`the server gave a list of version ${version}, and was at ${this.#newest} before`);
      this.#reason = "rewound";
    }
    this.#behindSince = undefined;
    this.#version = version;
    this.#newest = version;
    const reason = this.#reason;
    this.#reason = undefined;
    return reason;
  }
}

/** Whether `a` is older than `b`, as far as that can be told: versions that are no numbers have no order. */
export function isOlder(a: string, b: string): boolean {
  return isResourceVersion(a) && isResourceVersion(b) && compareResourceVersions(a, b) < 0;
}

/** Where a watch goes on that was at `before` and got `next`: never backwards. */
function later(before: string, next: string): string {
  return isOlder(next, before) ? before : next;
}
