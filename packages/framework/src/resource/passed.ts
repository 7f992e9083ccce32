import type { ResourceDefinition } from "../definition.ts";
import { checkIdentity, type ServedResource, type Verb } from "./served.ts";
import type { Awaitable } from "../storage.ts";
import { advertisedSubresources } from "./advertised.ts";
import type { VirtualWorkspace, WorkspaceRequest } from "../virtual-workspace.ts";
import { Writer } from "../write/writer.ts";

/** Verbs by what they are for: "" for the resource itself, else the name of a subresource. */
export type DiscoveredVerbs = Readonly<Record<string, readonly string[]>>;

type Params = Readonly<Record<string, string>>;
type RawHandlers = Required<Pick<VirtualWorkspace, "handle">> & Pick<VirtualWorkspace, "upgrade">;

/**
 * Who answers requests about a resource that is served elsewhere: whole requests, of all verbs and subresources, as they came.
 * `authorize` of the view has been asked about each; of all logical clusters at once only lists and watches come here. A `Relay` of
 * `@virtual-workspaces/forwarding` is one.
 */
export interface PassedHandlers extends RawHandlers {
  /**
   * Which verbs there are, for discovery: asked each time that it is about the resource, and waited for. What it throws is
   * logged; the resource is left out then, and a `Warning` header names it. @default all verbs that the kind can have
   */
  readonly discover?: (request: WorkspaceRequest<Params>) => Awaitable<DiscoveredVerbs>;
}

/** How a resource is served whose requests are passed on. */
export interface PassOptions {
  /** As of `ServeOptions`. @default "", by its plural alone */
  readonly identity?: string;
  /** As of `ServeOptions`. @default none */
  readonly warning?: string;
}

const ALL: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STORAGE = Object.freeze({});

/** A resource whose objects nobody here has. @throws Error on an identity that is none */
export function passedResource(
  definition: ResourceDefinition,
  passed: PassedHandlers,
  { identity = "", warning }: PassOptions,
): ServedResource {
  checkIdentity(definition, identity);
  return Object.freeze({
    definition,
    storage: STORAGE,
    verbs: ALL,
    identity,
    subresources: advertisedSubresources(definition, ALL, { named: {}, updates: true, statusVerbs: ALL }),
    storedAs: undefined,
    warning,
    metadata: undefined,
    writer: new Writer({ definition, storage: STORAGE }),
    admit: undefined,
    scaling: undefined,
    named: new Map(),
    passed,
  });
}

/** The resource with the verbs that it turned out to have. */
export function withVerbs(resource: ServedResource, verbs: DiscoveredVerbs): ServedResource {
  const known = (name: string): readonly Verb[] => ALL.filter((verb) => verbs[name]?.includes(verb) === true);
  const subresources = resource.subresources
    .map((one) => ({ ...one, verbs: known(one.name) }))
    .filter(({ verbs: own }) => own.length > 0);
  return { ...resource, verbs: known(""), subresources };
}
