import { FieldSet } from "./field-set.ts";
import { withSelf } from "./fields-of.ts";
import { memberType } from "./form.ts";
import { type MapType, UNTYPED, type ValueType } from "./value-type.ts";

/**
 * A set with the declared fields above its fields: whoever owns `spec.text` owns `spec` as well if the schema declares
 * it, which sets leave out since it says nothing.
 */
export function withNamedFields(set: FieldSet, type: ValueType | undefined): FieldSet {
  return set.mapChildren(
    (child, name) => {
      if (!child.hasChildren) return child;
      const below = withNamedFields(child, type?.map && memberType(type.map, name));
      const isDeclared = type?.map?.fields?.get(name) !== undefined;
      return isDeclared && !below.has ? withSelf(below) : below;
    },
    (child, element) => withNamedFields(child, element.startsWith("k:") ? type?.list?.element : undefined),
  );
}

/**
 * A set that was written under an older schema, as it is under this one: of what has become atomic only the whole is
 * owned. (What was atomic and is no more needs nothing.) The very same set if nothing changes.
 */
export function reconcile(set: FieldSet, { map, list }: ValueType): FieldSet {
  if (!set.hasChildren) return set;
  const below = (type: ValueType | undefined) => (child: FieldSet) => reconcileChild(child, type);
  if (map !== undefined) {
    if (isUntypedMap(map)) return set;
    return set.mapChildren((child, name) => reconcileChild(child, memberType(map, name)), below(map.element));
  }
  return list === undefined ? set : set.mapChildren(below(list.element), below(list.element));
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
