# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fields_oracle.py hdf5|xdmf FOLDER COMMAND...

hdf5: h5py writes a file into FOLDER; COMMAND hdf5 FOLDER loads each of its datasets and saves it again; h5py reads what
it saved, and every bit is compared. xdmf: COMMAND xdmf FOLDER saves fields; the text is parsed, its files are read by
NumPy and by their bytes, and by VTK where Python has it.
"""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree


def skip(what):
    print(f"SKIPPED: {what}")
    sys.exit(77)


def require(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def random_bits(np, dtype, rng):
    if dtype == np.bool_:
        return rng.integers(0, 2, (5, 3)).astype(np.bool_)
    return np.frombuffer(rng.bytes(15 * np.dtype(dtype).itemsize), dtype=dtype).reshape(5, 3)


def bits(np, array):
    return np.ascontiguousarray(array).tobytes()


def exchange_hdf5(folder, command):
    try:
        import h5py
        import numpy as np
    except ImportError as missing:
        skip(f"this python3 has no {missing.name}, so no HDF5 file was exchanged with h5py; bash cmake/bootstrap.sh "
             "test installs it, or name a "
             "Python that has it with -DOSTRAKA_FILES_PYTHON=")
    rng = np.random.default_rng(41)
    types = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i16": "<i2", "i8": "i1", "flags": np.bool_,
             "c64": "<c8", "c128": "<c16",
             "f32_big_endian": ">f4", "i32_big_endian": ">i4"}
    arrays = {name: random_bits(np, np.dtype(dtype), rng) for name, dtype in types.items()}
    for name in "f32_big_endian", "i32_big_endian":  # of numbers: their bytes are compared as little-endian
        arrays[name] = rng.integers(-1000, 1000, (5, 3)).astype(types[name])
    patterns = rng.integers(0, 0x7f80, (5, 3)).astype("<u2")  # of bfloat16, the upper halves of float32
    series = rng.random((4, 5, 3))
    with h5py.File(f"{folder}/h5py.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
        file.create_dataset("chunks_deflated", data=arrays["f32"], chunks=(2, 2), compression="gzip", shuffle=True,
                            fletcher32=True)
        bf16 = h5py.h5t.IEEE_F32LE.copy()
        bf16.set_fields(15, 7, 8, 0, 7)
        bf16.set_size(2)
        bf16.set_ebias(127)
        space = h5py.h5s.create_simple((5, 3))
        dataset = h5py.h5d.create(file.id, b"bf16", bf16, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, patterns, mtype=bf16)
        file["series"] = series
        for axis, name in enumerate(("step", "I", "J")):
            file["series"].dims[axis].label = name
    with h5py.File(f"{folder}/h5py_series.h5", "w") as file:
        file.create_dataset("series", data=series, maxshape=(None, 5, 3), chunks=(1, 5, 3))
    print(subprocess.run(command + ["hdf5", folder], check=True, capture_output=True, text=True).stdout)

    arrays["chunks_deflated"] = arrays["f32"]
    for name, array in arrays.items():
        for kind in "run", "chunks", "deflated":
            with h5py.File(f"{folder}/{name}.{kind}.h5") as file:
                saved = file[f"all/{name}"]
                require(saved.dtype == array.dtype.newbyteorder("<"), f"{name} was saved as {saved.dtype}")
                require(bits(np, saved[()]) == bits(np, array.astype(array.dtype.newbyteorder("<"))),
                        f"{name}.{kind} differs")
                require([d.label for d in saved.dims] == ["I", "J"],
                        f"{name} has the axes {[d.label for d in saved.dims]}")
                require([d[0].name for d in saved.dims] == ["/I", "/J"], f"{name} has no scales I and J")
                require(saved.chunks == {"run": None, "chunks": (2, 2), "deflated": (2, 3)}[kind],
                        f"{name}.{kind} has chunks {saved.chunks}")
                require((saved.compression == "gzip") == (kind == "deflated"),
                        f"{name}.{kind} is compressed by {saved.compression}")
    for kind in "run", "chunks", "deflated":
        with h5py.File(f"{folder}/bf16.{kind}.h5") as file:
            stored = file["all/bf16"].id
            seen = np.zeros((5, 3), "<u2")
            stored.read(h5py.h5s.ALL, h5py.h5s.ALL, seen, mtype=stored.get_type())
            require((seen == patterns).all(), "bf16 differs")
            widened = (patterns.astype("<u4") << 16).view("<f4")
            require((file["all/bf16"].astype("<f4")[()] == widened).all(), "h5py reads other numbers of bf16")
    with h5py.File(f"{folder}/part.h5") as file:
        require((file["part"][()] == series[-2, 1:]).all(), "the part of a dataset differs")
    with h5py.File(f"{folder}/run.h5") as file:
        step = np.fromfunction(lambda i, j, k: 100 * i + 10 * j + k, (2, 3, 4))
        require(file["u"].shape == (3, 2, 3, 4) and (file["u"][()] == step).all(), "what was appended differs")
        require([d.label for d in file["u"].dims] == ["step", "I", "J", "K"], "what was appended has other axes")
        require(list(file["u"].dims[0][0][()]) == [0, 0.5, 1], "the scale of what was appended differs")
    with h5py.File(f"{folder}/h5py_series.h5") as file:
        require(file["series"].shape == (5, 5, 3), "nothing was appended to h5py's file")
        require(bits(np, file["series"][4]) == bits(np, arrays["f64"]), "what was appended to h5py's file differs")


def read_by_vtk(path):
    """The extents, origin, spacing and arrays, as x, y, z; None if there is no VTK."""
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
    except ImportError:
        return None
    reader = vtkXdmfReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    data = grid.GetPointData()
    return (grid.GetDimensions(), grid.GetOrigin(), grid.GetSpacing(),
            {data.GetArrayName(k): vtk_to_numpy(data.GetArray(k)) for k in range(data.GetNumberOfArrays())})


def check_xdmf(folder, command):
    try:
        import numpy as np
    except ImportError:
        skip("this python3 has no numpy, so no XDMF file was read; name one that has it with -DOSTRAKA_FILES_PYTHON=")
    subprocess.run(command + ["xdmf", folder], check=True)
    solid = np.fromfunction(lambda i, j, k: 100 * i + 10 * j + k, (2, 3, 4))
    wanted = {"solid": {"u": solid, "v & w": solid},
              "plane": {"n": np.fromfunction(lambda i, j: 10 * i + j, (5, 3)).astype("<i4")},
              "line": {"x": (np.arange(7) / 2).astype("<f4")}}
    seen_by_vtk = False
    for name, fields in wanted.items():
        path = f"{folder}/{name}.xdmf"
        grid = xml.etree.ElementTree.parse(path).getroot().find("Domain/Grid")
        points = next(iter(fields.values())).shape
        topology = grid.find("Topology")
        shape = tuple(int(n) for n in topology.get("Dimensions").split())
        require(shape == (points if len(points) > 1 else (1, *points)), f"{name} has the extents {shape}")
        require(topology.get("TopologyType") == f"{len(shape)}DCoRectMesh", f"{name} has another grid")
        origin, spacing = ([float(x) for x in item.text.split()] for item in grid.findall("Geometry/DataItem"))
        require((origin, spacing) == (([1, 2, 3], [0.5, 0.25, 2]) if name == "solid" else ([0] * 2, [1] * 2)),
                f"{name}: {origin}, {spacing}")
        attributes = grid.findall("Attribute")
        require([a.get("Name") for a in attributes] == list(fields), f"{name} has other fields")
        for attribute, (field, array) in zip(attributes, fields.items()):
            item = attribute.find("DataItem")
            code = {"Float": "f", "Int": "i"}[item.get("NumberType")] + item.get("Precision")
            with open(f"{folder}/{item.text}", "rb") as file:
                data = file.read()[int(item.get("Seek")):]
            require(item.get("Endian") == "Little"
                    and (np.frombuffer(data, "<" + code).reshape(array.shape) == array).all(), f"{field} differs")
            require((np.load(f"{folder}/{item.text}") == array).all(), f"{field} differs for NumPy")
        if vtk := read_by_vtk(path):
            seen_by_vtk = True
            extents, origin, spacing, arrays = vtk
            require([n for n in extents if n > 1] == list(reversed(points)), f"VTK sees the extents {extents}")
            require(name != "solid" or (origin, spacing) == ((3, 2, 1), (2, 0.25, 0.5)),
                    f"VTK sees {origin}, {spacing}")
            for field, array in fields.items():
                require((arrays[field] == array.ravel()).all(), f"VTK sees other numbers in {field}")
    if not seen_by_vtk:
        print("SKIPPED: this python3 has no vtk, so VTK has not read the XDMF files that were parsed")


def main():
    kind, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    (exchange_hdf5 if kind == "hdf5" else check_xdmf)(folder, command)


main()
