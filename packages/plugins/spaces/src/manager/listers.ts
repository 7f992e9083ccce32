import { type Client, Informer } from "@virtual-workspaces/client";
import {
  DEFAULT_ANNOTATION,
  DEFAULT_PROVIDER,
  PARENT_ANNOTATION,
  providerOf,
  SPACE_FINALIZER,
} from "../kinds/names.ts";
import { Space, type SpaceContent } from "../kinds/space.ts";
import { SpaceProviderDesc, type SpaceProviderDescContent } from "../kinds/space-provider-desc.ts";

/** Identity of a physical space: its provider, its parent and its name. */
export interface PhysicalSpaceKey {
  readonly provider: string;
  readonly parent: string | undefined;
  readonly name: string;
}

/** Spaces of the management cluster, indexed by physical space. */
export class SpaceLister implements AsyncDisposable {
  readonly informer: Informer<SpaceContent>;
  /** Owner of a physical space that several Spaces claim, by uid. */
  readonly #owners = new Map<string, string>();

  /** @param onError receives why the Spaces cannot be read */
  constructor(client: Client, onError: (error: Error) => void) {
    this.informer = new Informer({
      resource: client.resource(Space),
      onError,
      indexers: {
        provider: ({ spec }) => (spec.SpaceProviderDescName === undefined ? [] : [spec.SpaceProviderDescName]),
        behind: (space) => {
          const key = physicalSpaceKeyOf(space);
          return key === undefined ? [] : [keyText(key)];
        },
        type: ({ spec }) => [spec.Type ?? "managed"],
      },
    });
    this.informer.on({ deleted: (space) => this.#forgetOwner(space) });
  }

  ofProvider(provider: string): readonly Space[] {
    return this.informer.store.byIndex("provider", provider);
  }

  imported(namespace: string): readonly Space[] {
    const all = this.informer.store.byIndex("type", "imported");
    return all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** Returns the Spaces that claim a physical space. */
  of(key: PhysicalSpaceKey): readonly Space[] {
    return this.informer.store.byIndex("behind", keyText(key));
  }

  /** Returns the owner among them: the previous owner, else the Space with the finalizer, else the oldest. The owner stays the same. */
  ownerOf(key: PhysicalSpaceKey): Space | undefined {
    const text = keyText(key);
    const all = this.of(key);
    const before = this.#owners.get(text);
    const owner = all.find(({ metadata }) => metadata.uid === before) ?? [...all].sort(byClaim)[0];
    if (owner?.metadata.uid === undefined) this.#owners.delete(text);
    else this.#owners.set(text, owner.metadata.uid);
    return owner;
  }

  #forgetOwner(space: Space): void {
    const key = physicalSpaceKeyOf(space);
    if (key !== undefined && this.#owners.get(keyText(key)) === space.metadata.uid) this.#owners.delete(keyText(key));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer.stop();
  }
}

/** Returns the physical space of a Space; `undefined` without a provider. */
export function physicalSpaceKeyOf({ metadata, spec }: Space): PhysicalSpaceKey | undefined {
  if (spec.Type === "imported" || spec.SpaceProviderDescName === undefined) return undefined;
  const parent = metadata.annotations?.[PARENT_ANNOTATION];
  return {
    provider: spec.SpaceProviderDescName,
    parent: parent === "" ? undefined : parent,
    name: metadata.name ?? "",
  };
}

/** Reports whether a Space is in its provider's namespace, where the provider's administrators create Spaces. */
export function isAtProvider({ metadata, spec }: Space): boolean {
  return providerOf(metadata.namespace ?? "") === spec.SpaceProviderDescName;
}

export const isHeld = ({ metadata }: Space): boolean => metadata.finalizers?.includes(SPACE_FINALIZER) === true;

const keyText = ({ provider, parent = "", name }: PhysicalSpaceKey): string => JSON.stringify([provider, parent, name]);

function byClaim(one: Space, other: Space): number {
  const rank = (space: Space): string => {
    const { creationTimestamp = "", uid = "" } = space.metadata;
    return `${isHeld(space) ? 0 : 1} ${creationTimestamp} ${uid}`;
  };
  return rank(one) < rank(other) ? -1 : 1;
}

/** SpaceProviderDescs of the management cluster. */
export class ProviderLister implements AsyncDisposable {
  readonly informer: Informer<SpaceProviderDescContent>;

  /** @param onError receives why the SpaceProviderDescs cannot be read */
  constructor(client: Client, onError: (error: Error) => void) {
    this.informer = new Informer({ resource: client.resource(SpaceProviderDesc), onError });
  }

  get all(): readonly SpaceProviderDesc[] {
    return this.informer.store.list();
  }

  /** Returns one that exists and is not being deleted. */
  get(name: string): SpaceProviderDesc | undefined {
    const provider = this.informer.store.get({ name });
    return provider?.metadata.deletionTimestamp === undefined ? provider : undefined;
  }

  /** Returns one that exists, even during its deletion: its spaces are deleted before it. */
  leaving(name: string): SpaceProviderDesc | undefined {
    return this.informer.store.get({ name });
  }

  /** Default for Spaces that name no provider: the newest with the annotation, as for StorageClasses, or else the one with the name `default`. */
  get default(): SpaceProviderDesc | undefined {
    const saying = this.informer.store
      .list()
      .filter(({ metadata }) => metadata.annotations?.[DEFAULT_ANNOTATION] === "true")
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .sort(({ metadata: one }, { metadata: other }) => (ageOf(one) < ageOf(other) ? 1 : -1));
    return saying[0] ?? this.get(DEFAULT_PROVIDER);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer.stop();
  }
}

/** Returns a text that sorts SpaceProviderDescs by age. */
export const ageOf = ({ creationTimestamp, name = "" }: SpaceProviderDesc["metadata"]): string =>
  `${creationTimestamp ?? ""} ${name}`;
