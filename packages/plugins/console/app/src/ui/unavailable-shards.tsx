import { texts } from "../texts.ts";

/** Says that objects of some shards may be missing; nothing if there are none. */
export function UnavailableShards({ names = [] }: { readonly names?: readonly string[] | undefined }) {
  if (names.length === 0) return null;
  return (
    <p class="notice" role="status">
      {texts.shards.unavailable(names.join(", "))}
    </p>
  );
}
