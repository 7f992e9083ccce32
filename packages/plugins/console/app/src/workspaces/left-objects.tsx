import { useEffect, useRef, useState } from "preact/hooks";
import { routeHash, routeTo } from "../route.ts";
import { texts } from "../texts.ts";
import { deleteAll, type LeftObject } from "./mount-objects.ts";

interface LeftObjectsProps {
  /** Name of the workspace that is no longer mounted. */
  readonly name: string;
  readonly left: readonly LeftObject[];
  readonly onLeft: (left: readonly LeftObject[]) => void;
  readonly onClose: () => void;
}

/** Objects of a mount that could not be deleted with it, each with its reason, and another attempt. */
export function LeftObjects({ name, left, onLeft, onClose }: LeftObjectsProps) {
  const [isBusy, setBusy] = useState(false);
  const ref = useRef<HTMLParagraphElement>(null);
  // The form had the focus, and is gone: screen readers read on here.
  useEffect(() => ref.current?.focus(), []);
  const again = async () => {
    setBusy(true);
    onLeft(await deleteAll(left));
    setBusy(false);
  };
  return (
    <div class="made">
      <p role="alert" tabIndex={-1} ref={ref}>
        {texts.unmount.left(name)}
      </p>
      <ul>
        {left.map(({ at, kind, error }) => (
          <li key={`${kind} ${at.namespace}/${at.name}`}>
            <a
              href={routeHash(
                routeTo({
                  workspace: at.workspace,
                  resource: at.resource,
                  object: { namespace: at.namespace, name: at.name },
                }),
              )}
              onClick={onClose}
            >
              {`${kind} ${at.namespace === "" ? at.name : `${at.namespace}/${at.name}`}`}
            </a>
            <p class="error">{error.message}</p>
          </li>
        ))}
      </ul>
      <footer>
        <button type="button" onClick={onClose}>
          {texts.close}
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void again()}>
          {texts.errors.again}
        </button>
      </footer>
    </div>
  );
}
