import type { Client } from "@virtual-workspaces/client";
import type { PartialAnswers } from "@virtual-workspaces/framework";
import type { HistoryOptions } from "@virtual-workspaces/framework/storage";
import type { SpaceFailure, Spaces } from "../client/spaces.ts";

/** What {@link spacesView} is given. */
export interface SpacesViewOptions {
  /** Which Spaces there are, and how they are reached: all that are followed are served. Not closed with the view; until it is there, all is 503. */
  readonly spaces: Spaces | Promise<Spaces>;
  /**
   * The management cluster, by a credential that may create SubjectAccessReviews there: it says who may use `spaces/proxy` of which Spaces. Not
   * closed with the view.
   */
  readonly reviews: Client;
  /**
   * As whom a Space is asked. `secret`: as its Secret says, whoever asks; what they may do in it is what the management cluster lets them do with
   * `spaces/proxy`, by verb, and nothing else. `impersonate`: as the caller, by the Secret's right to impersonate, so that the rules of the Space
   * decide as well; then each caller has a stream of their own. @default "secret"
   */
  readonly identity?: "secret" | "impersonate";
  /**
   * What is answered of several Spaces while one cannot be reached. @default "known": as its objects were last seen; 503 as long as they never were
   */
  readonly partial?: PartialAnswers;
  /** How long one reader waits for a Space, before it counts as away, ms. What all of them have is read in that time, too. @default 10000, as of informers across Spaces */
  readonly patience?: number;
  /** How often it is asked what a Space serves, while somebody wants to know of several, ms; 30 ms for each Space at least. @default 10000 */
  readonly discoverEvery?: number;
  /** How much is remembered of the past of several Spaces, for each kind. */
  readonly history?: HistoryOptions;
  /** How long a yes of the management cluster is remembered, ms: what is withdrawn there goes on for so long. @default 10000 */
  readonly allowCache?: number;
  /** The same of a no: what is granted there is refused here for so long. @default 1000 */
  readonly denyCache?: number;
  /** Told what goes wrong with a Space, once for each spell, and with reviews. */
  readonly onError: (failure: SpaceFailure) => void;
}
