import { formatTime, type KubeObject } from "@virtual-workspaces/apimachinery";
import type { Scope, Storage, WriteOptions } from "../storage.ts";
import type { User } from "../user.ts";

/** Says who somebody is. */
export class SelfReviews implements Storage {
  readonly lifecycle = "storage";

  create(_scope: Scope, { apiVersion, kind }: KubeObject, { user }: WriteOptions): KubeObject {
    const metadata = { creationTimestamp: formatTime(new Date()) };
    return { apiVersion, kind, metadata, status: { userInfo: userInfo(user) } };
  }
}

/** What is empty is left out, as Kubernetes does. */
function userInfo({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
