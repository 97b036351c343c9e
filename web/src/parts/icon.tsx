/** An icon on its pixel grid; without a label it is decoration, and a screen reader passes over it. */

import { type PixelName, path, SIZE } from "./pixels";

type IconProps = { name: PixelName; size?: 12 | 24 | 36 | 48 | 72; label?: string };

export function Icon({ name, size = 24, label }: IconProps) {
  const told = label ? { role: "img" as const, "aria-label": label } : { "aria-hidden": true };
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: its label, or that it is decoration, is told by attributes
    <svg class="icon" width={size} height={size} viewBox={`0 0 ${SIZE} ${SIZE}`} shape-rendering="crispEdges" {...told}>
      <path d={path(name)} fill="currentColor" />
    </svg>
  );
}
