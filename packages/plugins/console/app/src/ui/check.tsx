import { useId } from "preact/hooks";

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean;
  /** Why the user may not change it. Undefined: the user may. */
  readonly reason?: string | undefined;
  readonly onChange: (isOn: boolean) => void;
}

/** A checkbox that, where it cannot be changed, stays in the order of keys and has the reason beside it, as `ReasonedButton` does. */
export function Check({ label, isOn, reason, onChange }: CheckProps) {
  const id = useId();
  const isAllowed = reason === undefined;
  return (
    <span class="checked">
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          aria-disabled={!isAllowed}
          aria-describedby={isAllowed ? undefined : id}
          onClick={(event) => {
            if (!isAllowed) event.preventDefault();
          }}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        {label}
      </label>
      {!isAllowed && (
        <span class="hint" id={id}>
          {reason}
        </span>
      )}
    </span>
  );
}
