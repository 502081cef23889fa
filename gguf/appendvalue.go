package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// appendValue appends a value with its type in front.
func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case uint8:
		return append(appendKind(b, kindU8), v), nil
	case int8:
		return putI8(appendKind(b, kindI8), v), nil
	case uint16:
		return putU16(appendKind(b, kindU16), v), nil
	case int16:
		return putI16(appendKind(b, kindI16), v), nil
	case uint32:
		return putU32(appendKind(b, kindU32), v), nil
	case int32:
		return putI32(appendKind(b, kindI32), v), nil
	case float32:
		return putF32(appendKind(b, kindF32), v), nil
	case bool:
		return putBool(appendKind(b, kindBool), v), nil
	case string:
		return putText(appendKind(b, kindString), v), nil
	case uint64:
		return putU64(appendKind(b, kindU64), v), nil
	case int64:
		return putI64(appendKind(b, kindI64), v), nil
	case float64:
		return putF64(appendKind(b, kindF64), v), nil
	case []uint8:
		return appendList(b, kindU8, v, func(b []byte, x uint8) []byte { return append(b, x) }), nil
	case []int8:
		return appendList(b, kindI8, v, putI8), nil
	case []uint16:
		return appendList(b, kindU16, v, putU16), nil
	case []int16:
		return appendList(b, kindI16, v, putI16), nil
	case []uint32:
		return appendList(b, kindU32, v, putU32), nil
	case []int32:
		return appendList(b, kindI32, v, putI32), nil
	case []float32:
		return appendList(b, kindF32, v, putF32), nil
	case []bool:
		return appendList(b, kindBool, v, putBool), nil
	case []string:
		return appendList(b, kindString, v, putText), nil
	case []uint64:
		return appendList(b, kindU64, v, putU64), nil
	case []int64:
		return appendList(b, kindI64, v, putI64), nil
	case []float64:
		return appendList(b, kindF64, v, putF64), nil
	}
	return nil, fmt.Errorf("the format has no value of type %T", v)
}

func appendKind(b []byte, k kind) []byte { return putU32(b, uint32(k)) }

func appendList[T any](b []byte, elem kind, list []T, put func([]byte, T) []byte) []byte {
	b = appendKind(appendKind(b, kindArray), elem)
	b = putU64(b, uint64(len(list)))
	for _, x := range list {
		b = put(b, x)
	}
	return b
}

func putI8(b []byte, v int8) []byte     { return append(b, byte(v)) }
func putU16(b []byte, v uint16) []byte  { return binary.LittleEndian.AppendUint16(b, v) }
func putI16(b []byte, v int16) []byte   { return putU16(b, uint16(v)) }
func putU32(b []byte, v uint32) []byte  { return binary.LittleEndian.AppendUint32(b, v) }
func putI32(b []byte, v int32) []byte   { return putU32(b, uint32(v)) }
func putF32(b []byte, v float32) []byte { return putU32(b, math.Float32bits(v)) }
func putU64(b []byte, v uint64) []byte  { return binary.LittleEndian.AppendUint64(b, v) }
func putI64(b []byte, v int64) []byte   { return putU64(b, uint64(v)) }
func putF64(b []byte, v float64) []byte { return putU64(b, math.Float64bits(v)) }
func putText(b []byte, v string) []byte { return append(putU64(b, uint64(len(v))), v...) }

func putBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
