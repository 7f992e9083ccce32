import { type Client, Informer } from "@virtual-workspaces/client";
import { DEFAULT_ANNOTATION, DEFAULT_PROVIDER } from "../kinds/names.ts";
import { SpaceProviderDesc, type SpaceProviderDescContent } from "../kinds/space-provider-desc.ts";

/** The SpaceProviderDescs of the management cluster. */
export class KnownProviders implements AsyncDisposable {
  readonly informer: Informer<SpaceProviderDescContent>;

  constructor(client: Client) {
    this.informer = new Informer({ resource: client.resource(SpaceProviderDesc) });
  }

  /** One that is there, and is not about to go. */
  get(name: string): SpaceProviderDesc | undefined {
    const provider = this.informer.store.get({ name });
    return provider?.metadata.deletionTimestamp === undefined ? provider : undefined;
  }

  /** One that is there, though it may be about to go: what is being deleted at it is deleted before. */
  leaving(name: string): SpaceProviderDesc | undefined {
    return this.informer.store.get({ name });
  }

  /** The one that Spaces have which name none: that says so, of several the newest, as with StorageClasses; or that of the name `default`. */
  get default(): SpaceProviderDesc | undefined {
    const saying = this.informer.store
      .list()
      .filter(({ metadata }) => metadata.annotations?.[DEFAULT_ANNOTATION] === "true")
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort(({ metadata: one }, { metadata: other }) => (keyOf(one) < keyOf(other) ? 1 : -1));
    return saying[0] ?? this.get(DEFAULT_PROVIDER);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer.stop();
  }
}

const keyOf = ({ creationTimestamp, name = "" }: SpaceProviderDesc["metadata"]): string =>
  `${creationTimestamp ?? ""} ${name}`;
