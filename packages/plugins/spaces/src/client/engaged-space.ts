import { Client } from "@virtual-workspaces/client";
import { splitCluster } from "@virtual-workspaces/client/http";
import { ForeignUpstream } from "@virtual-workspaces/forwarding";
import { requestCredential } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";
import type { Space } from "../kinds/space.ts";
import type { AccessState, SpaceConfig } from "./space-access.ts";
import { nameOf, type SpaceName } from "./space-name.ts";

/** A Space that can be used. An immutable value, replaced after a change of the Space. */
export interface EngagedSpace {
  readonly name: SpaceName;
  /** Identifier (`status.spaceID`, else the object's UID), which changes when a Space is created again. */
  readonly id: string;
  /** The Space object. */
  readonly space: Space;
  /** Client with the current credential of the Space; the same one while the server is the same. */
  readonly client: Client;
  /** Connection settings, with the rewritten server URL. Security: they contain credentials. */
  readonly config: SpaceConfig;
}

export type UsableAccess = Extract<AccessState, { usable: true }>;

/** Returns the URL to connect to; an exception rejects the Space. */
export type Rewrite = (url: string, space: Space) => string;

/** Options for connections to Spaces. */
export interface ReachOptions {
  readonly rewrite: Rewrite;
  /** Returns the dialer of a Space; `undefined` for the default. */
  readonly dial: (space: Space) => Dial | undefined;
}

/** A Space with its connections. */
export class Engagement implements EngagedSpace, AsyncDisposable {
  readonly name: SpaceName;
  readonly id: string;
  readonly space: Space;
  readonly client: Client;
  readonly config: SpaceConfig;
  readonly digests: UsableAccess["digests"];
  /** Upstream of the Space. Security: it is only as trustworthy as the creator of the Space. */
  readonly upstream: ForeignUpstream;
  readonly #credential: RotatingCredential;

  /** @throws Error on a URL that is invalid or rejected */
  constructor({ space, id, config, digests }: UsableAccess, before: ReachOptions | Engagement) {
    this.name = nameOf(space.metadata);
    this.id = id;
    this.space = space;
    this.digests = digests;
    const { ca, serverName, credential } = config;
    const shown = credential === undefined ? {} : requestCredential(credential);
    if (before instanceof Engagement) {
      this.#credential = before.#credential;
      this.#credential.shown = shown;
      this.upstream = before.upstream;
      this.client = before.client;
      this.config = { ...config, server: before.config.server };
      return;
    }
    const server = before.rewrite(config.server, space);
    const dial = before.dial(space);
    this.config = { ...config, server };
    this.#credential = new RotatingCredential(shown);
    const tls = { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) };
    const place = splitCluster({ url: server, tls, credentials: this.#credential, ...(dial && { dial }) });
    const { cluster } = place;
    this.upstream = new ForeignUpstream({ ...place.upstream, what: `the space ${this.name}` });
    this.client = new Client({ upstream: this.upstream, ...(cluster !== "" && { cluster }) });
  }

  /** Returns the updated Space with the same connections, since the server is the same. */
  renewed(access: UsableAccess): Engagement {
    return new Engagement(access, this);
  }

  /** Closes the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

type Credential = ReturnType<typeof requestCredential>;

/**
 * Credential that can be replaced: open streams continue, and new requests use the new one. A request with the former one that is rejected
 * is sent again with the new one.
 */
class RotatingCredential {
  shown: Credential;

  constructor(shown: Credential) {
    this.shown = shown;
  }

  get(): Credential {
    return this.shown;
  }

  refused(): void {
    // The Secret alone replaces it.
  }
}
