// The view of Spaces in a server of its own over imported workspaces, with requests of its clients.

import { type Authenticator, staticTokens } from "@virtual-workspaces/framework";
import { followSpaces, type Spaces, type SpacesViewOptions, spacesView } from "@virtual-workspaces/spaces";
import { type Answer, type PlainServer, startPlain } from "../../../_support/plain.ts";
import { type Lent, when } from "./lent.ts";

/** Tokens are the user names, as in the workspaces. */
const USERS = {
  root: { name: "shard-admin", groups: ["system:masters"] },
  alice: { name: "alice" },
  bob: { name: "bob" },
};

interface ViewedOptions extends SpacesViewOptions {
  /** @default tokens, which are the names of the users */
  readonly authentication: Authenticator;
}

export class Viewed implements AsyncDisposable {
  readonly lent: Lent;
  readonly server: PlainServer;
  readonly spaces: Spaces;
  readonly failures: string[];

  private constructor(parts: Pick<Viewed, "lent" | "server" | "spaces" | "failures">) {
    this.lent = parts.lent;
    this.server = parts.server;
    this.spaces = parts.spaces;
    this.failures = parts.failures;
  }

  /** Starts a view and waits until it is ready. */
  static async over(
    lent: Lent,
    { authentication = staticTokens(USERS), ...options }: Partial<ViewedOptions> = {},
  ): Promise<Viewed> {
    const failures: string[] = [];
    const onError = ({ space, error }: { readonly space?: string; readonly error: unknown }): void =>
      void failures.push(`${space ?? ""} ${String(error)}`);
    const { client } = lent.management;
    const spaces = followSpaces({ client, onError });
    const view = spacesView({
      spaces,
      reviews: client,
      discoverEvery: 1,
      allowCache: 0,
      denyCache: 0,
      patience: 2_000,
      onError,
      ...options,
    });
    const server = await startPlain([view], { authentication: [authentication] });
    await spaces.synced;
    const viewed = new Viewed({ lent, server, spaces, failures });
    for (let ready = await viewed.server.get("/readyz/spaces"); ready.status !== 200; )
      ready = await viewed.server.get("/readyz/spaces");
    return viewed;
  }

  /** Sends a GET below Spaces, by default `*`/`*`. */
  get(path: string, at = "*/*", user = "root"): Promise<Answer> {
    return this.server.get(`/services/spaces/${at}${path}`, { user });
  }

  /** Returns the names in a list, each with its Space. */
  async names(path: string, at = "*/*", user = "root"): Promise<string[]> {
    const { body } = await this.get(path, at, user);
    if (body.items === undefined) throw new Error(JSON.stringify(body));
    return (body.items as readonly Listed[]).map(
      ({ metadata: { name, annotations } }) => `${annotations?.[SPACE]} ${name}`,
    );
  }

  watch(path: string, at = "*/*", user = "root") {
    return this.server.watch(`/services/spaces/${at}${path}`, { user });
  }

  /** Waits until that many Spaces are usable. */
  engaged(count: number): Promise<void> {
    return when(this.spaces, () => this.spaces.engaged.length === count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.spaces[Symbol.asyncDispose]();
  }
}

export const SPACE = "space.kubestellar.io/space";
export const MAPS = "/api/v1/namespaces/default/configmaps";

export interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}
