import type { Client } from "@virtual-workspaces/client";
import type { PartialAnswers } from "@virtual-workspaces/framework";
import type { HistoryOptions } from "@virtual-workspaces/framework/storage";
import type { SpaceFailure, Spaces } from "../client/spaces.ts";

/** Options of {@link spacesView}. */
export interface SpacesViewOptions {
  /** Spaces to serve, with their clients; not closed with the view. Requests get 503 until it is available. */
  readonly spaces: Spaces | Promise<Spaces>;
  /** Client of the management cluster, with a credential that may create SubjectAccessReviews about `spaces/proxy`. Not closed with the view. */
  readonly reviews: Client;
  /**
   * Identity for requests to a Space. With `secret` it is that of its Secret for all callers, and only the management cluster authorizes
   * them, by their verbs on `spaces/proxy`. With `impersonate` it is the caller's, and the Space authorizes as well. The Secret must then
   * be allowed to impersonate, and streams are not shared between callers.
   * @default "secret"
   */
  readonly identity?: "secret" | "impersonate";
  /** Response across Spaces while one is unreachable. @default "known": its objects as last seen, or 503 if there are none */
  readonly partial?: PartialAnswers;
  /**
   * Time limit of a reader for a Space, after which it counts as unreachable, ms. Initial lists have the same limit.
   * @default 10000, as for informers across Spaces
   */
  readonly patience?: number;
  /** Interval between discoveries of a Space while callers use several, ms; at least 30 ms for each Space. @default 10000 */
  readonly discoverEvery?: number;
  /** Limits of the event history across Spaces, for each kind. */
  readonly history?: HistoryOptions;
  /** Cache duration of an allowed review, ms. Security: a withdrawn permission remains valid for that long. @default 10000 */
  readonly allowCache?: number;
  /** Cache duration of a denied review, ms. A new permission takes effect after it. @default 1000 */
  readonly denyCache?: number;
  /** Called with errors of reviews, and of Spaces, once for each outage. */
  readonly onError: (failure: SpaceFailure) => void;
}
