import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface ReasonedButtonProps {
  /** Why the user may not press it. Undefined: the user may. */
  readonly reason: string | undefined;
  /** It has no use now, as the page says elsewhere. */
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

/** A button that, for users who may not press it, stays in the order of keys and has the reason beside it, for all users. */
export function ReasonedButton({ reason, isDisabled = false, onClick, children }: ReasonedButtonProps) {
  const id = useId();
  const isAllowed = reason === undefined;
  return (
    <span class="reasoned">
      <button
        type="button"
        disabled={isAllowed && isDisabled}
        aria-disabled={!isAllowed}
        aria-describedby={isAllowed ? undefined : id}
        onClick={() => {
          if (isAllowed) onClick();
        }}
      >
        {children}
      </button>
      {!isAllowed && (
        <span class="hint" id={id}>
          {reason}
        </span>
      )}
    </span>
  );
}
