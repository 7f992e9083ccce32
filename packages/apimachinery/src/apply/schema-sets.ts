import { FieldSet } from "./field-set.ts";
import { withSelf } from "./fields-of.ts";
import { memberType } from "./form.ts";
import { type MapType, UNTYPED, type ValueType } from "./value-type.ts";

/**
 * A set with the declared fields above its fields: whoever owns `spec.text` owns `spec` as well if the schema declares
 * it, which sets leave out since it says nothing.
 */
export function withNamedFields(set: FieldSet, type: ValueType | undefined): FieldSet {
  const fields = mapValues(set.fields, (child, name) => {
    if (!child.hasChildren) return child;
    const below = withNamedFields(child, type?.map && memberType(type.map, name));
    const isDeclared = type?.map?.fields?.get(name) !== undefined;
    return isDeclared && !below.has ? withSelf(below) : below;
  });
  const items = mapValues(set.items, (child, element) =>
    withNamedFields(child, element.startsWith("k:") ? type?.list?.element : undefined),
  );
  return fields === set.fields && items === set.items ? set : new FieldSet(set.has, fields, items);
}

/**
 * A set that was written under an older schema, as it is under this one: of what has become atomic only the whole is
 * owned. (What was atomic and is no more needs nothing.) The very same set if nothing changes.
 */
export function reconcile(set: FieldSet, type: ValueType): FieldSet {
  const { map, list } = type;
  if (!set.hasChildren) return set;
  if (map !== undefined) {
    if (isUntypedMap(map)) return set;
    const fields = mapValues(set.fields, (child, name) => reconcileChild(child, memberType(map, name)));
    const items = mapValues(set.items, (child) => reconcileChild(child, map.element));
    return same(set, fields, items);
  }
  if (list === undefined) return set;
  const fields = mapValues(set.fields, (child) => reconcileChild(child, list.element));
  const items = mapValues(set.items, (child) => reconcileChild(child, list.element));
  return same(set, fields, items);
}

function reconcileChild(child: FieldSet, type: ValueType | undefined): FieldSet {
  if (type === undefined || !child.hasChildren) return child;
  const first = type.map ?? (type.scalar === undefined ? type.list : undefined);
  if (first === undefined || (type.map !== undefined && isUntypedMap(type.map))) return child;
  return first.atomic ? FieldSet.leaf : reconcile(child, type);
}

/** Types that are deduced from values do not know yet what is atomic. */
function isUntypedMap({ fields, element }: MapType): boolean {
  return fields === undefined && element !== UNTYPED && element?.scalar === "untyped";
}

function same(set: FieldSet, fields: FieldSet["fields"], items: FieldSet["items"]): FieldSet {
  return fields === set.fields && items === set.items ? set : new FieldSet(set.has, fields, items);
}

function mapValues(
  children: FieldSet["fields"],
  change: (child: FieldSet, key: string) => FieldSet,
): FieldSet["fields"] {
  let changed: Map<string, FieldSet> | undefined;
  if (children === undefined) return undefined;
  for (const [key, child] of children) {
    const after = change(child, key);
    if (after === child) continue;
    changed ??= new Map(children);
    changed.set(key, after);
  }
  return changed ?? children;
}
