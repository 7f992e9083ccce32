import { compareResourceVersions, isResourceVersion } from "@virtual-workspaces/apimachinery/requests";
import { UpstreamFault } from "./checked.ts";
import type { RelistReason } from "./events.ts";

/** Version that an informer has reached. Only versions of lists, events and bookmarks count, in the server's order. */
export class Position {
  readonly #rewindAfter: number;
  /** Version at which the next watch starts; "" to list everything. */
  #version = "";
  /** Newest version ever seen. */
  #newest = "";
  #behindSince: number | undefined;
  #reason: RelistReason | undefined;

  constructor(rewindAfter: number) {
    this.#rewindAfter = rewindAfter;
  }

  get version(): string {
    return this.#version;
  }

  /** Requests a relist. */
  lose(reason: RelistReason): void {
    this.#version = "";
    this.#reason = reason;
  }

  /** Records the version of an event. */
  advance(version: string): void {
    this.#version = later(this.#version, version);
    this.#newest = later(this.#newest, this.#version);
  }

  /** Records the version of a bookmark. @throws UpstreamFault if the watch began at a newer one */
  bookmark(version: string): void {
    if (isOlder(version, this.#version)) {
      const error = new UpstreamFault(`the server went back from version ${this.#version} to ${version}`);
      this.lose("rewound");
      throw error;
    }
    this.advance(version);
  }

  /**
   * Records the version of a complete list.
   *
   * @returns the reason of the relist, `undefined` the first time
   * @throws UpstreamFault if it is older than the newest version, unless it has been for long
   */
  begin(version: string): RelistReason | undefined {
    if (isOlder(version, this.#newest)) {
      const now = performance.now();
      this.#behindSince ??= now;
      if (now - this.#behindSince < this.#rewindAfter)
        throw new UpstreamFault(
          `the server sent a list of version ${version}, older than its earlier version ${this.#newest}`,
        );
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

/** Returns whether `a` is older than `b`. Versions that are not numbers have no order. */
export function isOlder(a: string, b: string): boolean {
  return isResourceVersion(a) && isResourceVersion(b) && compareResourceVersions(a, b) < 0;
}

/** Returns the version at which a watch resumes after an event: never an older one. */
function later(before: string, next: string): string {
  return isOlder(next, before) ? before : next;
}
