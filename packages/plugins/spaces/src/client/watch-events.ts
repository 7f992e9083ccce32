import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { FollowOptions, RelistReason } from "@virtual-workspaces/client";
import type { SpaceSelectOptions } from "./list.ts";
import type { SpaceName } from "./space-name.ts";

/**
 * Reason for a new list of a Space. With `expired`, its server no longer has the events since the last one. With `rewound`, the server is
 * at an older version. With `moved`, the Space has another server. With `replaced`, it was created again since the cursor. With
 * `incomplete`, the cursor is from before `SYNCED`.
 */
export type ResetReason = RelistReason | "moved" | "replaced" | "incomplete";

/** Event of a watch across Spaces without its cursor. */
export type SpaceEventContent<T> =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly space: SpaceName;
      /** The object with the resource version of its Space, which is not valid in another one. */
      readonly object: ObjectOf<T>;
    }
  /** The initial objects of a Space are complete; changes follow. */
  | { readonly type: "SYNCED"; readonly space: SpaceName }
  /** Earlier events of a Space are invalid. Its current objects follow as `ADDED`, up to `SYNCED`. */
  | { readonly type: "RESET"; readonly space: SpaceName; readonly reason: ResetReason }
  /** A Space is gone with all its objects: `deleted` together with them, or only `gone` from the view of this process. */
  | { readonly type: "LEFT"; readonly space: SpaceName; readonly how: "deleted" | "gone" }
  /** No change; the cursor is newer. */
  | { readonly type: "BOOKMARK"; readonly space: SpaceName };

/** Event of {@link Spaces.watch}. */
export type SpaceEvent<T> = SpaceEventContent<T> & {
  /** Cursor after this event, encoded at each access. It has about 100 characters for each Space, so save it periodically and not after each event. */
  readonly cursor: string;
};

/** Options of a watch across Spaces. */
export interface SpaceWatchOptions
  extends Omit<SpaceSelectOptions, "retries">,
    Pick<FollowOptions, "renewEvery" | "idle" | "pageSize" | "backoff" | "rewindAfter"> {
  /** Cursor of an event, or of a list with the same selection. @default the watch starts with all objects */
  readonly cursor?: string;
}
