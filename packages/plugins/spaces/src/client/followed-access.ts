import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import { type Client, Informer, type LifecycleEvent } from "@virtual-workspaces/client";
import { SECRET, type SecretContent } from "../kinds/built-in.ts";
import { type AccessScope, KUBECONFIG_KEY } from "../kinds/names.ts";
import { Space, type SpaceContent } from "../kinds/space.ts";
import { type Access, accessOf, secretOf } from "./access.ts";
import { nameOf, partsOf, type SpaceName } from "./space-name.ts";

export interface FollowedAccessOptions {
  readonly client: Client;
  readonly scope: AccessScope;
  /** `undefined`: of all. */
  readonly namespace: string | undefined;
  readonly labels: string | undefined;
  /** Something may have changed of a Space, or of its Secret. */
  readonly changed: (name: SpaceName) => void;
  readonly failed: (error: Error) => void;
}

/** Spaces, and the Secrets that lead to them, kept in step by watch: nobody is asked for what is known here. */
export class FollowedAccess implements AsyncDisposable {
  readonly #options: FollowedAccessOptions;
  readonly #spaces: Informer<SpaceContent>;
  readonly #secrets: Informer<SecretContent>;

  constructor(options: FollowedAccessOptions) {
    const { client, scope, namespace, labels, changed, failed } = options;
    const [spaces, secrets] = [client.resource(Space), client.resource(SECRET)];
    const within = <R extends { in(namespace: string): R }>(all: R): R =>
      namespace === undefined ? all : all.in(namespace);
    this.#options = options;
    this.#spaces = new Informer({
      resource: within(spaces),
      ...(labels !== undefined && { labels }),
      indexers: { secret: (space) => [nameOf(secretOf(space, scope) ?? {})] },
    });
    this.#secrets = new Informer({ resource: within(secrets), transform: kubeconfigAlone });
    const lifecycle = (event: LifecycleEvent): void => {
      if (event.type === "error") failed(event.error);
    };
    const told = ({ metadata }: Space): void => changed(nameOf(metadata));
    this.#spaces.on({ added: told, updated: told, deleted: told, lifecycle });
    const concerned = ({ metadata }: ObjectOf<SecretContent>): void => {
      for (const space of this.#spaces.store.byIndex("secret", nameOf(metadata))) told(space);
    };
    this.#secrets.on({ added: concerned, updated: concerned, deleted: concerned, lifecycle });
  }

  /** Begins. @returns resolves when everything has been read; rejects when it is ended before */
  async start(): Promise<void> {
    await Promise.all([this.#spaces.start().synced, this.#secrets.start().synced]);
  }

  /** What there is, `undefined`: there is no such Space. */
  of(name: SpaceName): Access | undefined {
    const space = this.#spaces.store.get(partsOf(name));
    return space && accessOf(space, this.#secrets.store, this.#options.scope);
  }

  /** Its object. */
  space(name: SpaceName): Space | undefined {
    return this.#spaces.store.get(partsOf(name));
  }

  /** All Spaces. */
  get names(): SpaceName[] {
    return this.#spaces.store.list().map(({ metadata }) => nameOf(metadata));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#spaces.stop(), this.#secrets.stop()]);
  }
}

/** Nothing else of a Secret is kept here. */
function kubeconfigAlone({ data, ...secret }: ObjectOf<SecretContent>): ObjectOf<SecretContent> {
  const kubeconfig = data?.[KUBECONFIG_KEY];
  return { ...secret, ...(kubeconfig !== undefined && { data: { [KUBECONFIG_KEY]: kubeconfig } }) };
}
