import type { ObjectOf } from "@virtual-workspaces/apimachinery";
import type { Store } from "@virtual-workspaces/client";
import { READY_CONDITION } from "@virtual-workspaces/kcp/conditions";
import { type SecretContent, textsIn } from "../kinds/secret.ts";
import type { SpaceProviderDesc } from "../kinds/space-provider-desc.ts";
import type { SpaceProviderType } from "../provider/provider.ts";
import { ageOf, type ProviderLister } from "./listers.ts";

/** Reason of a SpaceProviderDesc whose place belongs to an older one. */
export const SPACES_TAKEN = "SpacesTaken";

/** Options of {@link Places}. */
export interface PlacesOptions {
  readonly types: Readonly<Record<string, SpaceProviderType>>;
  readonly providers: ProviderLister;
  readonly secrets: Store<ObjectOf<SecretContent>>;
}

/** Owners of the places of spaces. They follow from the SpaceProviderDescs alone, so that all managers and restarts agree. */
export class Places {
  readonly #options: PlacesOptions;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Returns the oldest other SpaceProviderDesc with the same place, if it is older. */
  takenBy(provider: SpaceProviderDesc): SpaceProviderDesc | undefined {
    const [oldest] = this.#sharing(provider).sort((one, other) =>
      ageOf(one.metadata) < ageOf(other.metadata) ? -1 : 1,
    );
    return oldest !== undefined && ageOf(oldest.metadata) < ageOf(provider.metadata) ? oldest : undefined;
  }

  /** Returns the SpaceProviderDescs to reconcile after a change of one: those with its place, and those that wait for a place. */
  contenders(provider: SpaceProviderDesc): readonly SpaceProviderDesc[] {
    return [...new Set([...this.#sharing(provider), ...this.#options.providers.all.filter(isWaiting)])];
  }

  #sharing(provider: SpaceProviderDesc): SpaceProviderDesc[] {
    const place = this.#placeOf(provider);
    if (place === undefined) return [];
    const { uid } = provider.metadata;
    return this.#options.providers.all.filter((one) => one.metadata.uid !== uid && this.#placeOf(one) === place);
  }

  #placeOf({ metadata: { name = "" }, spec: { ProviderType, secretRef } }: SpaceProviderDesc): string | undefined {
    const { types, secrets } = this.#options;
    const type = Object.hasOwn(types, ProviderType) ? types[ProviderType] : undefined;
    const secret = secretRef && secrets.get(secretRef);
    if (type === undefined || (secret === undefined && (secretRef !== undefined || type.needsSecret))) return undefined;
    try {
      return type.place?.({ name, secret: textsIn(secret) });
    } catch {
      return undefined; // Opening it reports the problem of the Secret.
    }
  }
}

const isWaiting = ({ status }: SpaceProviderDesc): boolean =>
  status?.conditions?.find(({ type }) => type === READY_CONDITION)?.reason === SPACES_TAKEN;
