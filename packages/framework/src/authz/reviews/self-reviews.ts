import { formatTime, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Scope, Storage } from "../../storage.ts";
import type { WriteOptions } from "../../storage-writes.ts";
import type { User } from "../../request/user.ts";
import type { ReviewedUser } from "./content.ts";

/**
 * The storage of `SelfSubjectReview`: says who somebody is, as the request goes on as. For views that serve the reviews
 * themselves, so that their own rule decides who may ask.
 */
export class SelfReviews implements Storage {
  /** No review is kept. */
  readonly lifecycle = "storage";

  /** Whom the request is from, all extras included. */
  create(_scope: Scope, { apiVersion, kind }: KubeObject, { user }: WriteOptions): KubeObject {
    const metadata = { creationTimestamp: formatTime(new Date()) };
    return { apiVersion, kind, metadata, status: { userInfo: reviewedUser(user) } };
  }
}

/** Somebody as reviews tell of them (Kubernetes' `UserInfo`): what is empty is left out. */
export function reviewedUser({ name, uid, groups, extra }: User): ReviewedUser {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
