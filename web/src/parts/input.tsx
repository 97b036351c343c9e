/** Where a name, a path or a command is typed: nothing corrects it, begins it with a capital or remembers it. */

interface PlainInputProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly label?: string;
  readonly placeholder?: string;
  readonly grow?: boolean;
}

export function PlainInput({ value, onInput, label, placeholder, grow = false }: PlainInputProps) {
  return (
    <input
      class={grow ? "input grow" : "input"}
      value={value}
      aria-label={label}
      placeholder={placeholder}
      autocapitalize="none"
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
