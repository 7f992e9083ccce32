import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { FollowOptions, RelistReason } from "@virtual-workspaces/client";
import type { SpaceSelectOptions } from "./list.ts";
import type { SpaceName } from "./space-name.ts";

/**
 * Why a Space is told anew: its server has forgotten what came after what was told (`expired`), or is at an older version (`rewound`); it is reached at
 * another server (`moved`); it is another one of its name (`replaced`) than the cursor says; the cursor is from before it was `SYNCED` (`incomplete`).
 */
export type ResetReason = RelistReason | "moved" | "replaced" | "incomplete";

/** What a watch across Spaces tells, but for its cursor. */
export type SpaceEventContent<T> =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly space: SpaceName;
      /** As its Space has it: its version is that of the Space, and means nothing in another. */
      readonly object: ObjectOf<T>;
    }
  /** What is in a Space has been told; from now on what changes is. */
  | { readonly type: "SYNCED"; readonly space: SpaceName }
  /** What was told of a Space is void: what is there now is told next, as `ADDED`, up to `SYNCED`. */
  | { readonly type: "RESET"; readonly space: SpaceName; readonly reason: ResetReason }
  /** A Space is no more, and with it all that was told of it: `deleted` with what was in it, or only `gone` from here. */
  | { readonly type: "LEFT"; readonly space: SpaceName; readonly how: "deleted" | "gone" }
  /** Nothing has happened: the cursor is a newer one. */
  | { readonly type: "BOOKMARK"; readonly space: SpaceName };

/** What a watch across Spaces tells: {@link Spaces.watch}. */
export type SpaceEvent<T> = SpaceEventContent<T> & {
  /** Where to go on once this has been taken in. A text of about 100 characters for each Space, made when it is read: save it now and then, not always. */
  readonly cursor: string;
};

/** What is watched in each Space, and how. */
export interface SpaceWatchOptions
  extends Omit<SpaceSelectOptions, "retries">,
    Pick<FollowOptions, "renewEvery" | "idle" | "pageSize" | "backoff" | "rewindAfter"> {
  /** Where it goes on: what an event said, or a list of the same. @default what is there is told first */
  readonly cursor?: string;
}
