import type { PathColumn } from "@virtual-workspaces/apimachinery/tables";
import type { DiscoveredKind } from "@virtual-workspaces/client";
import { defineResource, type Resource, type ServedResource, type Verb } from "@virtual-workspaces/framework";
import { SPACE_ANNOTATION } from "../kinds/names.ts";
import { type AcrossOptions, AcrossSpaces } from "./across-spaces.ts";
import { kindKey, type ServedSpace } from "./served-space.ts";

/** Verbs of a kind across Spaces. An object can only be created in one Space. */
const VERBS: readonly Verb[] = ["delete", "get", "list", "patch", "update", "watch"];

/** A kind that several Spaces serve. */
export class AcrossKind {
  readonly served: ServedResource;
  /** Key that is equal for kinds with the same definition. */
  readonly text: string;
  readonly #across: AcrossSpaces;
  readonly #resource: Resource;

  /** @param columns columns of its table between Space and Age */
  constructor(kind: DiscoveredKind, columns: readonly PathColumn[], options: AcrossOptions) {
    this.text = kindText(kind);
    this.#resource = resourceOf(kind, columns);
    this.#across = new AcrossSpaces(this.#resource, options);
    const verbs = VERBS.filter((verb) => kind.verbs.includes(verb));
    this.served = this.#resource.serve(this.#across, { verbs });
  }

  /** Adds a Space, or replaces its previous state. */
  place(space: ServedSpace): void {
    if (space.mayHaveObjects && space.serves(this.#resource)) this.#across.place(space);
    else this.#across.withdraw(space.name);
  }

  /** Removes a Space. */
  withdraw(name: string): void {
    this.#across.withdraw(name);
  }
}

/** Field labels of Kubernetes' built-in kinds besides the name. `kubectl describe` finds events by them. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/v1/events": [
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
      (part) => `.involvedObject.${part}`,
    ),
    ".reason",
    ".reportingComponent",
    ".type",
  ],
  "/v1/namespaces": [".status.phase"],
  "/v1/nodes": [".spec.unschedulable"],
  "/v1/pods": [
    ".spec.nodeName",
    ".spec.restartPolicy",
    ".spec.schedulerName",
    ".spec.serviceAccountName",
    ".spec.hostNetwork",
    ".status.phase",
    ".status.podIP",
    ".status.nominatedNodeName",
  ],
  "/v1/secrets": [".type"],
  "batch/v1/jobs": [".status.successful"],
};

/** Returns a key of all facts that the kind is served by. */
export const kindText = (kind: DiscoveredKind): string =>
  JSON.stringify([
    kind.kind,
    kind.scope,
    kind.singular,
    kind.shortNames,
    kind.categories,
    kind.subresources,
    kind.verbs,
  ]);

/** Returns a resource without validation or pruning, which are up to each Space. */
function resourceOf(kind: DiscoveredKind, columns: readonly PathColumn[]): Resource {
  const { group, version, plural, singular, scope, shortNames, categories, subresources } = kind;
  return defineResource({
    group,
    version,
    kind: kind.kind,
    plural,
    scope,
    shortNames,
    categories,
    ...(singular !== "" && { singular }),
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    lazySchema: true,
    columns: {
      Space: {
        jsonPath: `.metadata.annotations.${SPACE_ANNOTATION.replaceAll(".", "\\.")}`,
        description: "Space of the object.",
      },
      ...Object.fromEntries(columns.map(({ name, ...column }) => [name, column])),
    },
    selectableFields: FIELDS[kindKey(kind)] ?? [],
    subresources: { status: subresources.includes("status") },
  }) as Resource;
}
