import type { Discovery } from "../../api/discovery.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import { linkTo, resourceOfKind } from "../links.ts";
import type { WholeObject } from "../live-object.ts";
import { isFields } from "../yaml/object-text.ts";

/** Another object that an object names. */
interface NamedObject {
  /** Such as `spec.ref`. */
  readonly field: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The objects that a Mount, a ClusterProxy or a mounted Workspace names in its workspace. */
export function namedBy({ apiVersion, kind, ...object }: WholeObject): readonly NamedObject[] {
  const { spec } = object as { readonly spec?: unknown };
  if (!isFields(spec)) return [];
  const of = (field: string, value: unknown, defaults: Partial<NamedObject> = {}): readonly NamedObject[] => {
    const all = isFields(value) ? { ...defaults, ...value } : {};
    const text = (part: keyof NamedObject) => (typeof all[part] === "string" ? all[part] : "");
    const named = { apiVersion: text("apiVersion"), kind: text("kind"), namespace: text("namespace") };
    return text("name") === "" ? [] : [{ field, ...named, name: text("name") }];
  };
  const [group = ""] = apiVersion.split("/");
  if (group === "tenancy.kcp.io" && kind === "Workspace" && isFields(spec["mount"]))
    return of("spec.mount.ref", spec["mount"]["ref"]);
  if (group !== "proxy.kcp.io") return [];
  const secret = { apiVersion: "v1", kind: "Secret", namespace: "default" };
  return [...of("spec.ref", spec["ref"]), ...of("spec.secretRef", spec["secretRef"], secret)];
}

interface NamedProps {
  readonly named: NamedObject;
  readonly address: ObjectAddress;
  readonly found: Discovery;
}

/** A link to such an object, or its name where the workspace does not serve its kind. */
export function Named({ named: { field, apiVersion, kind, namespace, name }, address, found }: NamedProps) {
  const resource = resourceOfKind(found, apiVersion, kind);
  const text = `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
  return (
    <>
      {resource === undefined ? (
        <bdi>{text}</bdi>
      ) : (
        <a href={linkTo({ workspace: address.workspace, resource, namespace, name })}>
          <bdi>{text}</bdi>
        </a>
      )}{" "}
      <span class="muted">{field}</span>
    </>
  );
}
