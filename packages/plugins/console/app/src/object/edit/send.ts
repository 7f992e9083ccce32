import { isStatusError } from "../../api/client.ts";
import type { ObjectAddress } from "../../api/objects.ts";
import { readExactly, replaceExactly } from "../exact-numbers.ts";
import type { WholeObject } from "../live-object.ts";
import { withHidden } from "../yaml/object-text.ts";
import { parseText } from "../yaml/parse.ts";
import type { Draft } from "./draft.ts";

interface SendOptions {
  readonly isDryRun: boolean;
}

/** Replaces an object by the text of its draft. Throws a StatusError: 409 if others have changed what the text shows. */
export async function sendDraft(draft: Draft, address: ObjectAddress, options: SendOptions): Promise<WholeObject> {
  try {
    return await sendOnce(draft, address, options);
  } catch (error) {
    if (!isStatusError(error) || error.code !== 409) throw error;
    // The watch may be slower than the conflict.
    draft.receive(await readExactly(address).catch(() => draft.newest.peek()));
    if (draft.isOutdated.peek()) throw error;
    // Only what the text does not show has changed, such as the status.
    return await sendOnce(draft, address, options);
  }
}

function sendOnce(draft: Draft, address: ObjectAddress, { isDryRun }: SendOptions): Promise<WholeObject> {
  const { value = {} } = parseText(draft.text.peek());
  const object = withHidden(value, draft.base.peek(), draft.shown.peek());
  return replaceExactly(address, { object, isDryRun });
}
