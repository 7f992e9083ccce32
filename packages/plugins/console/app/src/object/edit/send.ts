import type { ObjectAddress } from "../../api/objects.ts";
import { replaceExactly } from "../exact-numbers.ts";
import type { WholeObject } from "../live-object.ts";
import { withHidden } from "../yaml/object-text.ts";
import { parseText } from "../yaml/parse.ts";
import type { Draft } from "./draft.ts";

/** Replaces an object by the text of its draft. Throws a StatusError: 409 if the text was made from an older state. */
export async function sendDraft(
  draft: Draft,
  address: ObjectAddress,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<WholeObject> {
  const { value = {} } = parseText(draft.text.peek());
  const object = withHidden(value, draft.base.peek(), draft.shown.peek());
  return await replaceExactly(address, { object, isDryRun });
}
