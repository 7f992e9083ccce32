import type { Status } from "@virtual-workspaces/apimachinery";
import type { PhysicalSpace } from "../../provider/provider.ts";

/** What the bodies of the protocol say, by their names in its document. */
export interface Bodies {
  readonly Space: PhysicalSpace;
  readonly SpaceList: { readonly items: readonly PhysicalSpace[]; readonly continue?: string };
  readonly SpaceRequest: object;
  readonly SpaceEvent: {
    readonly type: "CHANGED" | "BOOKMARK" | "ERROR";
    readonly name?: string;
    readonly status?: Status;
  };
  readonly ProviderStatus: {
    readonly ready: boolean;
    readonly message?: string;
    readonly version: string;
    readonly capabilities: Capabilities;
  };
  readonly Status: Status;
}

/** What a provider is able to do. */
export type Capabilities = Readonly<Record<"create" | "delete" | "watch" | "hierarchy", boolean>>;
export type BodyName = keyof Bodies;
export type SpaceEvent = Bodies["SpaceEvent"];
