/** From edits as data to edits of files. */
import type { EditResult, FileEdit } from '../../api/file-edit.ts';
import type { EditSpec, ImageChange } from '../effect.ts';
import { setChartImages } from './chart.ts';
import { setOverlayImages } from './overlay.ts';
import { type Attempt, got, refuse } from './refusal.ts';
import { applySplices, type Splice } from './splice.ts';
import { parseYaml, type YamlSource } from './yaml-source.ts';

/** The names under which the overlay tool looks for its file. */
export const KUSTOMIZATION_NAMES = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const;

type Plan = (source: YamlSource) => Attempt<readonly Splice[]>;

const UNCHANGED: EditResult = { ok: true, writes: new Map() };

/** Applies a plan to one file. The result is read again: when it does not say what is wanted, nothing is written. */
const editFile = (file: string, text: string, plan: Plan): EditResult => {
  const source = parseYaml(file, text);
  if (!source.ok) return source;
  const splices = plan(source.value);
  if (!splices.ok) return splices;
  if (splices.value.length === 0) return UNCHANGED;
  const after = applySplices(text, splices.value);
  const again = parseYaml(file, after);
  const left = again.ok ? plan(again.value) : again;
  if (left.ok && left.value.length === 0) return { ok: true, writes: new Map([[file, after]]) };
  const [first] = splices.value;
  return refuse({
    code: 'YAMLUnsupported',
    message: 'the file is written in a way that cannot be edited without rewriting it; write the image out in plain form',
    file,
    line: source.value.lineAt(first?.start ?? 0),
  });
};

/** Identical changes once; two different ones for the same repository contradict each other. */
const distinct = (images: readonly ImageChange[], file: string): Attempt<readonly ImageChange[]> => {
  const byRepository = new Map<string, ImageChange>();
  for (const image of images) {
    if (!image.tag && !image.digest) {
      return refuse({ code: 'ImageIncomplete', message: `the image ${image.repository} has neither tag nor digest`, file });
    }
    const other = byRepository.get(image.repository);
    if (other && (other.tag !== image.tag || other.digest !== image.digest)) {
      return refuse({
        code: 'ImagesContradict',
        message: `the repository ${image.repository} is given twice, with different tags or digests`,
        file,
      });
    }
    byRepository.set(image.repository, image);
  }
  return got([...byRepository.values()]);
};

const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, '');

const overlayEdit = (path: string, images: readonly ImageChange[]): FileEdit => {
  const folder = trimmed(path);
  const reads = KUSTOMIZATION_NAMES.map((name) => (folder === '' ? name : `${folder}/${name}`));
  const names = KUSTOMIZATION_NAMES.join(', ');
  const shown = folder === '' ? 'the root of the repository' : `the folder ${folder}`;
  return {
    reads,
    apply: (files) => {
      const [file, second] = reads.filter((name) => files.has(name));
      const place = folder === '' ? '.' : folder;
      if (file === undefined)
        return refuse({ code: 'KustomizationMissing', message: `there is none of ${names} in ${shown}`, file: place });
      if (second !== undefined) {
        return refuse({
          code: 'KustomizationAmbiguous',
          message: `${file} and ${second} are both there; exactly one of ${names} may be in ${shown}`,
          file,
        });
      }
      const wanted = distinct(images, file);
      return wanted.ok ? editFile(file, files.get(file) ?? '', (source) => setOverlayImages(source, wanted.value)) : wanted;
    },
  };
};

const chartEdit = (path: string, valuePath: string, images: readonly ImageChange[]): FileEdit => {
  const file = trimmed(path);
  return {
    reads: [file],
    apply: (files) => {
      const text = files.get(file);
      if (text === undefined) return refuse({ code: 'ValuesFileMissing', message: 'the values file does not exist', file });
      const wanted = distinct(images, file);
      return wanted.ok ? editFile(file, text, (source) => setChartImages(source, valuePath, wanted.value)) : wanted;
    },
  };
};

const sequenceEdit = (edits: readonly FileEdit[]): FileEdit => ({
  reads: [...new Set(edits.flatMap((edit) => edit.reads))],
  apply: (files) => {
    const present = new Map(files);
    for (const edit of edits) {
      const result = edit.apply(present);
      if (!result.ok) return result;
      for (const [path, content] of result.writes) present.set(path, content);
    }
    return { ok: true, writes: new Map([...present].filter(([path, content]) => files.get(path) !== content)) };
  },
});

/** Compiles an edit. Everything that can be wrong is found when it is applied, as a refusal that names the file and, where there is one, the line. */
export const compileEdit = (spec: EditSpec): FileEdit => {
  switch (spec.edit) {
    case 'overlay':
      return overlayEdit(spec.path, spec.images);
    case 'chart':
      return chartEdit(spec.file, spec.valuePath, spec.images);
    case 'sequence':
      return sequenceEdit(spec.edits.map(compileEdit));
  }
};
