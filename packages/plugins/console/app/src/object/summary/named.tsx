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

/** Such an object, and the field that names it. */
export function Named({ named: { field, apiVersion, kind, namespace, name }, address, found }: NamedProps) {
  const resource = resourceOfKind(found, apiVersion, kind);
  const text = `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
  return (
    <>
      <ObjectLink at={resource && { workspace: address.workspace, resource, namespace, name }} text={text} />{" "}
      <span class="muted">{field}</span>
    </>
  );
}

interface ObjectLinkProps {
  /** Place of the object; undefined where the workspace does not serve its kind. */
  readonly at: ObjectAddress | undefined;
  readonly text: string;
}

/** A link to an object, or its name where there is no place to link to. */
export function ObjectLink({ at, text }: ObjectLinkProps) {
  if (at === undefined) return <bdi>{text}</bdi>;
  return (
    <a href={linkTo(at)}>
      <bdi>{text}</bdi>
    </a>
  );
}
