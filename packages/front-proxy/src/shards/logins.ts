import type { Client } from "@virtual-workspaces/client";
import {
  authenticatingType,
  type Holds,
  type WorkspaceAuthentication,
  WorkspaceAuthenticationConfiguration,
  WorkspaceType,
  workspaceAuthenticators,
} from "@virtual-workspaces/kcp";
import { type AnyKind, FollowedKind } from "./followed-kind.ts";

/** A shard whose types are read. */
export interface FollowedLoginsOptions {
  readonly name: string;
  /** Of all its logical clusters. */
  readonly client: Client;
  /** Of the kinds of `tenancy.kcp.io`. */
  readonly identity: string;
  readonly logins: WorkspaceAuthentication;
  /** Told of failures, each spell once. */
  readonly onError: (error: unknown) => void;
}

/** What the types of workspaces of a shard say of who logs in, told as it is and as it changes. */
export function followedLogins(options: FollowedLoginsOptions): readonly AnyKind[] {
  const { name, client, identity, logins, onError } = options;
  const types = new FollowedKind<Holds<typeof WorkspaceType>>({
    resource: client.resource(WorkspaceType, { identity }),
    set: (object) => {
      const type = authenticatingType(object);
      if (type !== undefined) logins.setType(name, type);
    },
    deleted: (key) => logins.deleteType(name, key),
    onError,
  });
  const configurations = new FollowedKind<Holds<typeof WorkspaceAuthenticationConfiguration>>({
    resource: client.resource(WorkspaceAuthenticationConfiguration, { identity }),
    set: (object) => {
      const said = workspaceAuthenticators(object);
      if (said !== undefined) logins.setConfiguration(name, said);
    },
    deleted: (key) => logins.deleteConfiguration(name, key),
    onError,
  });
  return [types, configurations];
}
