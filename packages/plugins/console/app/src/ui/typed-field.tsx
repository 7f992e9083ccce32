import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

interface TypedFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly error?: string | undefined;
  readonly isDisabled?: boolean;
  /** Takes the value this long after the last key, in milliseconds; else only on Enter and when the field is left. */
  readonly delay?: number;
  /** The key `/` goes here. */
  readonly isSearch?: boolean;
  /** Values to choose from. */
  readonly options?: readonly string[];
  readonly icon?: ComponentChildren;
}

/** A field of text whose value takes effect when the user pauses, presses Enter or leaves it. */
export function TypedField(props: TypedFieldProps) {
  const {
    label,
    value,
    onValue,
    placeholder,
    error,
    isDisabled = false,
    delay,
    isSearch = false,
    options,
    icon,
  } = props;
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = useId();
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (next: string) => {
    clearTimeout(timer.current);
    if (next.trim() !== value) onValue(next.trim());
  };
  return (
    <div class={`typed ${icon === undefined ? "" : "search"}`}>
      {icon}
      <label for={id}>{label}</label>
      <input
        id={id}
        type={isSearch ? "search" : "text"}
        {...(isSearch && { "data-search": "" })}
        {...(options !== undefined && { list: `${id}-options` })}
        value={text}
        placeholder={placeholder}
        disabled={isDisabled}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-error`}
        onInput={({ currentTarget }) => {
          const next = currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          if (delay !== undefined || next === "" || options?.includes(next) === true)
            timer.current = setTimeout(() => take(next), delay ?? 0);
        }}
        onChange={({ currentTarget }) => take(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") take(event.currentTarget.value);
        }}
      />
      {options !== undefined && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </div>
  );
}
