import { Client } from "@virtual-workspaces/client";
import { splitCluster } from "@virtual-workspaces/client/http";
import { ForeignUpstream } from "@virtual-workspaces/forwarding";
import { requestCredential } from "@virtual-workspaces/kcp/targets";
import type { Dial } from "@virtual-workspaces/transport";
import type { Space } from "../kinds/space.ts";
import type { AccessState, SpaceConfig } from "./space-access.ts";
import { nameOf, type SpaceName } from "./space-name.ts";

/** A Space that can be used. It is replaced by another one when something of it changes. */
export interface EngagedSpace {
  readonly name: SpaceName;
  /** Which one it is (`status.spaceID`, else the object's uid): one that was deleted and made again has another. */
  readonly id: string;
  /** Its object. */
  readonly space: Space;
  /** Reaches it, by the credential that counts now; one for as long as the server is the same. */
  readonly client: Client;
  /** Its server is where it is reached from here. Secret. */
  readonly config: SpaceConfig;
}

export type UsableAccess = Extract<AccessState, { usable: true }>;

/** Where a URL is reached from here. What throws refuses it. */
export type Rewrite = (url: string, space: Space) => string;

/** How Spaces are reached from here. */
export interface ReachOptions {
  readonly rewrite: Rewrite;
  /** By what connections to one are made; `undefined`: as this machine does. */
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
  /** What it is asked through; as trustworthy as whoever made the Space. */
  readonly upstream: ForeignUpstream;
  readonly #credential: RotatingCredential;

  /** @throws Error on a URL that cannot be used, or is refused */
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

  /** As it is now: over the same connections, since the server is the same. */
  renewed(access: UsableAccess): Engagement {
    return new Engagement(access, this);
  }

  /** Ends its connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

type Credential = ReturnType<typeof requestCredential>;

/** Credentials that are rotated under those who use them: streams that are open go on, what begins has the new one. */
class RotatingCredential {
  shown: Credential;

  constructor(shown: Credential) {
    this.shown = shown;
  }

  get(): Credential {
    return this.shown;
  }
}
